"""Which tests show the bug on the base."""

from pathlib import Path

import pytest

from pipeline.evidence.reproductions import OpenWorkspace, collect, unsuitable, validate
from pipeline.values import Reproduction
from tests.pipeline.evidence.small_repository import FILES, MakeSetting, candidate

SHOWS = "import shop\n\ndef test_empty():\n    assert shop.total([]) == 0\n"
RAISES = (
    "import shop\n\ndef test_mean():\n    assert shop.mean([]) == 0\n\ndef test_fine():\n    pass\n"
)
PASSES = "import shop\n\ndef test_sum():\n    assert shop.total([2]) == 2\n"


def test_one_of_each_text_stays_with_the_first_author() -> None:
    """Equal tests are tried once; authors count in natural order, not in the order given."""
    pool = [
        candidate("S1", tests={"tests/test_a.py": SHOWS, "tests/test_b.py": PASSES}),
        candidate("G2", tests={"tests/test_c.py": SHOWS + "\n"}),
    ]
    found = [(each.author, each.path) for each in collect(pool)]
    assert found == [("G2", "tests/test_c.py"), ("S1", "tests/test_b.py")]


@pytest.mark.parametrize(
    ("path", "text", "word"),
    [
        ("tests/test_new.py", SHOWS, None),
        ("test_new.py", SHOWS, None),
        ("src/a.test.ts", "test('a', f)", None),
        ("test/a.js", "it('a', f)", None),
        ("tests/test_shop.py", SHOWS, "exists"),
        ("Tests/Test_Shop.py", SHOWS, "exists"),
        ("shop_new.py", SHOWS, "name"),
        ("tests/helper.py", SHOWS, "name"),
        ("tests/conftest.py", SHOWS, "name"),
        ("../test_a.py", SHOWS, "climbs"),
        (".github/test_a.py", SHOWS, "GitHub"),
        ("tests/test_new.py", "x = '\u202e'", "invisible"),
        ("tests/test_new.py", "x = '\ud800'", "text"),
        ("tests/test_new.py", " \n", "empty"),
        ("tests/test_new.py", "t = 'ghp_" + "aB3" * 12 + "'", "token"),
    ],
)
def test_only_a_new_test_file_that_policy_allows_is_tried(
    path: str, text: str, word: str | None
) -> None:
    """Names, existing files and forbidden content are turned down without running anything."""
    reason = unsuitable(Reproduction(path, text, "G1"), list(FILES))
    assert (reason is None) if word is None else (word in (reason or ""))


async def check(opener: OpenWorkspace, runner: str, **texts: str) -> tuple[dict[str, object], str]:
    """Validated tests by path and all rejections in one string."""
    pool = [Reproduction(f"tests/test_{name}.py", text, "G1") for name, text in texts.items()]
    found = await validate(pool, opener, list(FILES), runner)
    return {e.reproduction.path: e.tests for e in found.validated}, " ".join(found.rejected)


async def test_a_test_that_fails_twice_is_validated(bench: MakeSetting) -> None:
    """Assertions and exceptions out of the code under test both count; each failing id is kept."""
    setting = bench()
    kept, said = await check(
        setting.open_workspace, "pytest", shows=SHOWS, raises=RAISES, good=PASSES
    )
    assert kept == {
        "tests/test_shows.py": ("tests/test_shows.py::test_empty",),
        "tests/test_raises.py": ("tests/test_raises.py::test_mean",),
    }
    assert said == "G1:tests/test_good.py passes on the base commit."
    tested = [workspace.tested for workspace in setting.sandbox.opened]
    assert [("tests/test_shows.py",)] * 2 in tested
    assert [("tests/test_good.py",)] in tested


async def test_what_is_no_failing_test_is_turned_down(bench: MakeSetting) -> None:
    """Import and syntax errors, missing fixtures, no tests and differing runs are not evidence."""
    kept, said = await check(
        bench().open_workspace,
        "pytest",
        imports="import nowhere\n\ndef test_a():\n    assert False\n",
        syntax="def test_a(:\n    assert False\n",
        fixture="def test_a(nothing_such):\n    assert False\n",
        none="x = 1\n",
    )
    assert kept == {}
    assert said.count("cannot be collected") == 3
    assert "gave no verdict" in said


async def test_a_test_that_differs_between_runs_is_turned_down(
    bench: MakeSetting, tmp_path: Path
) -> None:
    """Two runs have to fail in the same tests."""
    marker = tmp_path / "marker"
    text = (
        f"import pathlib\n\nmarker = pathlib.Path({str(marker)!r})\n\n"
        "def test_a():\n    assert False\n\n"
        "def test_b():\n    seen = marker.exists()\n    marker.touch()\n    assert seen\n"
    )
    kept, said = await check(bench().open_workspace, "pytest", flaky=text)
    assert kept == {}
    assert "fails differently" in said


async def test_unittest_calls_exceptions_errors_and_they_still_count(bench: MakeSetting) -> None:
    """With unittest only what fails while loading is no failure of the test."""
    case = "import unittest\n{}\nclass T(unittest.TestCase):\n    def test_a(self):\n        {}\n"
    kept, said = await check(
        bench(runner="unittest").open_workspace,
        "unittest",
        raises=case.format("import shop", "shop.mean([])"),
        imports=case.format("import nowhere", "self.fail()"),
    )
    assert kept == {"tests/test_raises.py": ("tests.test_raises.T.test_a",)}
    assert "test_imports.py cannot be collected" in said


async def test_a_test_that_hangs_is_turned_down(bench: MakeSetting) -> None:
    """A time-out is no failing test."""
    hang = "import time\n\ndef test_a():\n    time.sleep(60)\n"
    kept, said = await check(bench(timeout_s=2.0).open_workspace, "pytest", hang=hang)
    assert (kept, "did not end in time" in said) == ({}, True)
