"""Projects of several languages, set up and tested by detection alone on a real engine.

Each has the same fault: "12.3" is read as 12 euros and 3 cents. Everything is built, the images
of go, rust and java included where they are missing, so these run at night.
"""

import asyncio
import subprocess
import sys
import tarfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.base import TestRun
from sandbox.docker import DockerSandbox
from sandbox.environment.plan import make_plan
from tests.sandbox.conftest import GitSource, make_repository

pytestmark = [pytest.mark.engine, pytest.mark.nightly]

PROJECTS = Path(__file__).parent / "projects"
BUILD = Path(__file__).parents[2] / "deploy" / "sandbox" / "build.sh"


@dataclass(frozen=True)
class Case:
    """One project: its fault and the mend, and what its tests say before and after."""

    name: str
    file: str
    fault: str
    mend: str
    failing: frozenset[str]
    passing: frozenset[str]
    skipped: frozenset[str]
    target: str


CASES = (
    Case(
        name="go",
        file="price/price.go",
        fault="cents, err :=",
        mend='if len(fraction) == 1 {\n\t\tfraction += "0"\n\t}\n\tcents, err :=',
        failing=frozenset(
            {"example.org/shop/price::TestParse", "example.org/shop/price::TestParse/12.3"}
        ),
        passing=frozenset(
            {
                "example.org/shop/cart::TestTotal",
                "example.org/shop/price::ExampleFormat",
                "example.org/shop/price::TestParse/12",
                "example.org/shop/price::TestParse/12.30",
                "example.org/shop/price::TestParseRefuses",
            }
        ),
        skipped=frozenset({"example.org/shop/price::TestExchange"}),
        target="price/price_test.go",
    ),
    Case(
        name="rust",
        file="src/lib.rs",
        fault="let cents: u64 = fraction.parse().ok()?;",
        mend='let cents: u64 = format!("{fraction:0<2}").parse().ok()?;',
        failing=frozenset({"shop::tests::one_decimal"}),
        passing=frozenset(
            {
                "cart::adds_up",
                "cart::needs_every_amount",
                "cart::speaks_past_the_harness",
                "shop::src/lib.rs -",
                "shop::tests::refuses",
                "shop::tests::too_much",
                "shop::tests::whole_euros",
            }
        ),
        skipped=frozenset({"shop::tests::exchange"}),
        target="src/lib.rs",
    ),
    Case(
        name="java",
        file="src/main/java/shop/Price.java",
        fault="Long.parseLong(parts[1])",
        mend='Long.parseLong((parts[1] + "0").substring(0, 2))',
        failing=frozenset({"shop.PriceTest::oneDecimal"}),
        passing=frozenset(
            {"shop.CartTest::addsUp", "shop.PriceTest::refuses", "shop.PriceTest::wholeEuros"}
        ),
        skipped=frozenset({"shop.PriceTest::exchange"}),
        target="src/test/java/shop/PriceTest.java",
    ),
    Case(
        name="node",
        file="shop.js",
        fault="Number(found[2] || 0)",
        mend="Number((found[2] || '').padEnd(2, '0'))",
        failing=frozenset({"test/parse.js > parse reads one decimal"}),
        passing=frozenset(
            {
                "test/total.js > GET /total adds up",
                "test/total.js > GET /total refuses what is no amount",
                "test/parse.js > parse reads whole euros",
                "test/parse.js > parse refuses the rest",
            }
        ),
        skipped=frozenset({"test/total.js > GET /total needs rates to exchange"}),
        target="test/parse.js",
    ),
)


def build_image(name: str) -> None:
    """See to it that a language's image is there."""
    subprocess.run([BUILD, name], check=True)


@pytest.fixture
async def project(docker: DockerSandbox, tmp_path: Path, case: Case) -> AsyncIterator[GitSource]:
    """The project of a case as a repository, and no environment of it left behind."""
    if case.name != "node":
        await asyncio.to_thread(build_image, case.name)
    files = {
        str(path.relative_to(PROJECTS / case.name)): path.read_bytes()
        for path in sorted((PROJECTS / case.name).rglob("*"))
        if path.is_file()
    }
    source = make_repository(tmp_path / case.name, files)
    yield source
    await docker.remove_environments(source.repository)


def by_status(run: TestRun | None) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """What failed, passed and was skipped in a run that left a report."""
    assert run is not None
    assert run.structured, run.output
    return run.with_status("fail"), run.with_status("pass"), run.with_status("skip")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
async def test_detected_project(docker: DockerSandbox, project: GitSource, case: Case) -> None:
    """Detection finds set-up and tests, a patch mends what failed, parts can be run alone."""
    plan = await make_plan(project)
    environment = await docker.prepare(project, plan, "languages")
    before = by_status(environment.baseline)
    assert before == (case.failing, case.passing, case.skipped), environment.baseline
    assert environment.stable_passes == case.passing
    async with docker.workspace(environment, "candidate", "languages") as candidate:
        text = await candidate.read(case.file)
        assert text.count(case.fault) == 1
        await candidate.write(case.file, text.replace(case.fault, case.mend))
        patch = await candidate.diff()
    assert patch.count("diff --git") == 1
    async with docker.workspace(environment, "verify", "languages") as verify:
        assert (await verify.apply(patch)).ok
        run = await verify.test()
        assert by_status(run) == (frozenset(), case.failing | case.passing, case.skipped)
        assert run.exit_code == 0
        for target in (case.target, *sorted(case.failing)[:1]):
            part = await verify.test((target,))
            assert part.structured, part.output
            assert case.failing & part.with_status("pass")
            assert not case.passing <= part.with_status("pass")
        assert (await verify.diff()) == patch


CLICK = "click==8.1.8"
CLICK_FILE = "src/click/utils.py"
CLICK_MEND = "if total_length > max_length:"
CLICK_FAULT = "if total_length >= max_length:"
CLICK_FAILING = "tests/test_utils.py::test_make_default_short_help"


def published_click(folder: Path) -> dict[str, bytes]:
    """The files of click as it is published, tests included, with one fault put in."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "--dest", str(folder), CLICK], check=True)
    (archive,) = folder.glob("click-*.tar.gz")
    files: dict[str, bytes] = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isreg() else None
            if content is not None:
                files[member.name.partition("/")[2]] = content.read()
    text = files[CLICK_FILE].decode()
    assert text.count(CLICK_MEND) == 1
    files[CLICK_FILE] = text.replace(CLICK_MEND, CLICK_FAULT).encode()
    return files


@pytest.fixture
async def click(docker: DockerSandbox, tmp_path: Path) -> AsyncIterator[GitSource]:
    """click with a fault as a repository, and no environment of it left behind."""
    source = make_repository(tmp_path / "click", published_click(tmp_path))
    yield source
    await docker.remove_environments(source.repository)


async def test_click_as_published(docker: DockerSandbox, click: GitSource) -> None:
    """A large suite runs by detection alone; mending its fault adds passes and loses none."""
    environment = await docker.prepare(click, await make_plan(click), "languages")
    failing, passing, _ = by_status(environment.baseline)
    wrong = frozenset(test for test in failing if test.startswith(CLICK_FAILING))
    assert wrong
    assert len(passing) > 500
    async with docker.workspace(environment, "verify", "languages") as workspace:
        text = await workspace.read(CLICK_FILE)
        await workspace.write(CLICK_FILE, text.replace(CLICK_FAULT, CLICK_MEND))
        run = await workspace.test()
        assert environment.stable_passes | wrong <= run.with_status("pass")
        part = await workspace.test((min(wrong),))
        assert part.results == {min(wrong): "pass"}
