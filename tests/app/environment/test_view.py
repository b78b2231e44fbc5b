"""A plan and what is stored of it, as a person reads it."""

import time
from dataclasses import replace

import pytest

from app.environment.view import age, environment_text, plan_text, size, stored_lines
from sandbox.base import Environment, EnvironmentPlan, TestRun
from sandbox.engine.store import Stored
from sandbox.network.registries import Registries

PLAN = EnvironmentPlan(
    language="python",
    setup=("pip install -e .", "first\nsecond"),
    test="python -m pytest -q",
    runner="pytest",
    origin="set-up: uv.lock; test: pyproject.toml",
    directory="packages/core",
    packages=("libpq-dev",),
    variables=(("MODE", "test"),),
    hosts=("files.example.org", "other.example.org"),
    notes=("tox.ini was not used.",),
)


MIXED = {"a": "pass", "b": "fail"}


def shown(
    plan: EnvironmentPlan,
    setup_hosts: str = "",
    *,
    untested: bool = False,
    own: Registries = Registries(),  # noqa: B008 - frozen
) -> str:
    """The text of a plan."""
    return plan_text(
        plan,
        repository="acme/widgets",
        commit="1a2b3c4d" * 5,
        image="prism-base of this checkout",
        untested=untested,
        setup_hosts=setup_hosts,
        own=own,
        cache=["nothing yet"],
    )


def test_registries_of_the_operator_are_hosts() -> None:
    """A set-up reaches them as well, and what of their configuration it cannot use is told."""
    own = Registries(hosts=("pypi.corp.test", "npm.corp.test:8443"), notes=("X is not handed.",))
    text = shown(PLAN, own=own)
    assert "your own registries: pypi.corp.test npm.corp.test:8443\n" in text
    assert "X is not handed." in text
    assert "your own" not in shown(PLAN)


def run(results: dict[str, str], **fields: object) -> TestRun:
    """A run of the suite that ended by itself."""
    values = {"exit_code": 1, "duration_s": 3.0, "timed_out": False, "structured": True}
    return TestRun(results=results, output="", **{**values, **fields})  # type: ignore[arg-type] # named above


def test_every_part_of_a_plan_is_shown() -> None:
    """Each on lines of its own, in the order in which they are used."""
    text = shown(PLAN, "files.example.org")
    for line in (
        "repository  acme/widgets at 1a2b3c4d1a2b",
        "taken from  set-up: uv.lock; test: pyproject.toml",
        "packages    libpq-dev",
        "variables   MODE=test",
        "directory   packages/core",
        "set-up      1. pip install -e .",
        "            2. first\n            second",
        "test        python -m pytest -q",
        "not used    tox.ini was not used.",
        "stored      nothing yet",
    ):
        assert f"{line}\n" in f"{text}\n"
    assert " files.example.org\n" in text
    assert "not admitted by PRISM_SETUP_HOSTS: other.example.org" in text
    assert "env.untested: true" in text
    assert "go on without tests (env.untested)" in shown(PLAN, untested=True)


def test_what_was_not_found_is_said() -> None:
    """An empty part is a dash, not a gap."""
    text = shown(EnvironmentPlan("unknown", (), "", "exit_code", "nothing recognised"))
    assert "set-up      – (nothing to install)" in text
    assert "test        – (no test command found)" in text


def test_a_repository_cannot_command_the_terminal() -> None:
    """Colours, cursor moves and text that runs backwards are taken out of every part."""
    evil = "a\x1b[2J\x1b]0;x\x07b\u202ec\r"
    plan = replace(
        PLAN,
        setup=(evil,),
        test=evil,
        origin=evil,
        directory=evil,
        packages=(evil,),
        variables=((evil, evil),),
        hosts=(evil,),
        notes=(evil,),
    )
    text = shown(plan, evil)
    assert not set("\x1b\x07\u202e\r") & set(text)
    assert "1. abc" in text


@pytest.mark.parametrize(
    ("first", "again", "told", "untold"),
    [
        (MIXED, MIXED, ["1 pass, 1 fail", "before any change: b"], ["beware"]),
        ({"a": "pass", "b": "pass"}, MIXED, ["1 pass, 0 fail", "1 passed once"], ["beware"]),
        ({"a": "error"}, {"a": "error"}, ["0 pass, 1 fail", "beware", "No test can speak"], []),
        ({f"t{n}": "fail" for n in range(25)}, {}, ["0 pass, 25 fail", "and 15 more"], ["beware"]),
        ({}, {}, ["no verdict", "beware"], []),
    ],
)  # fmt: skip
def test_the_base_runs_are_told(
    first: dict[str, str], again: dict[str, str], told: list[str], untold: list[str]
) -> None:
    """How many pass, which fail, which are not stable, and whether any can speak."""
    environment = Environment("image", PLAN, run(first), run(again), 41.0, "")
    text = environment_text(environment, 50.0)
    assert "set up in 41 s, 50 s in all" in text
    assert all(words in text for words in told)
    assert not any(words in text for words in untold)


def test_an_environment_without_tests_says_so() -> None:
    """There is nothing to run."""
    environment = Environment("image", PLAN, None, None, 41.0, "", cached=True)
    text = environment_text(environment, 1.0)
    assert "found in the store, 1 s in all" in text
    assert "No test command was found." in text


def test_stored_environments_are_lines_with_size_and_age() -> None:
    """What is shared by commits is told from what is tested."""
    now = time.time()
    item = Stored(
        "id", "environment", "1/2", "c0", "k0", now - 7300, now, "9/10", {"a": 2_500_000_000}
    )
    shared = replace(item, kind="dependencies", tests="", layers={"a": 3_000_000})
    assert stored_lines([item, shared, replace(item, tests="")]) == [
        "2.5 GB, made 2 h ago, used 0 min ago, base tests: 9/10 pass",
        "3 MB, made 2 h ago, used 0 min ago, what the set-up installed, shared by commits",
        "2.5 GB, made 2 h ago, used 0 min ago, without tests",
    ]


def test_numbers_are_for_people() -> None:
    """Units change where numbers would become long."""
    sizes = (0, 999, 1_000, 999_000, 1_000_000, 999_000_000, 12_300_000_000)
    shown = ["0 bytes", "999 bytes", "1 kB", "999 kB", "1 MB", "999 MB", "12.3 GB"]
    assert [size(n) for n in sizes] == shown
    assert [age(n) for n in (-5, 60, 7200, 200_000)] == ["0 min", "1 min", "2 h", "2 days"]
