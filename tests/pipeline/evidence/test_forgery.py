"""A candidate cannot decide what it is told: its own changes to the judges do not count."""

import pytest

from pipeline.choose.vote import vote
from pipeline.evidence.policy import check_patch
from pipeline.evidence.policy_paths import judges
from pipeline.evidence.verify import verify_pool
from pipeline.values import Candidate, Evidence
from tests.pipeline.evidence.small_repository import FILES, MakeSetting, candidate, make_patch

SHOP = FILES["shop.py"]
BROKEN = SHOP.replace("return sum(items) if items else None", "return 7")
TEST = FILES["tests/test_shop.py"]
LOST = ("tests/test_shop.py::Shop::test_nothing", "tests/test_shop.py::Shop::test_total")

PASSES_EVERYTHING = """import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
REWRITES_THE_REPORT = """import atexit, os, re, sys

def _clean():
    for name in re.findall(r"--junit-?xml[= ]([^ ]+)", os.environ.get("PYTEST_ADDOPTS", "")
                           + " " + " ".join(sys.argv)):
        name = name.strip("'\\"")
        if os.path.exists(name):
            text = open(name).read()
            open(name, "w").write(re.sub(r"<failure.*?</failure>", "", text, flags=re.S))

atexit.register(_clean)
"""


async def judged(bench: MakeSetting, after: dict[str, str]) -> tuple[Candidate, Evidence]:
    """A candidate with these files changed, and its evidence."""
    setting = bench()
    one = candidate("G1", make_patch(FILES, after))
    evidence, _ = await verify_pool(setting.services(), await setting.environment(), [one])
    return one, evidence["G1"]


@pytest.mark.parametrize(
    "edits",
    [
        {"tests/test_shop.py": TEST.replace(", 3)", ", 7)").replace("assertIsNone", "bool")},
        {"tests/test_shop.py": "def test_nothing():\n    pass\n"},
        {"tests/conftest.py": PASSES_EVERYTHING},
        {"conftest.py": PASSES_EVERYTHING},
        {"pytest.ini": "[pytest]\naddopts = --deselect tests/test_shop.py\n"},
    ],
)
async def test_changed_judges_do_not_excuse_a_lost_test(
    bench: MakeSetting, edits: dict[str, str]
) -> None:
    """Rewriting, emptying, hooking or deselecting the tests leaves the loss in the evidence."""
    one, seen = await judged(bench, {"shop.py": BROKEN, **edits})
    assert seen.lost == LOST
    assert vote([one], {"G1": seen}, (), has_suite=True).winner is None


async def test_a_rewritten_report_is_no_verdict(bench: MakeSetting) -> None:
    """When the report says that all passed and the exit code says otherwise, nothing passed."""
    one, seen = await judged(bench, {"shop.py": REWRITES_THE_REPORT + BROKEN})
    assert not seen.regression_ran
    assert vote([one], {"G1": seen}, (), has_suite=True).winner is None


async def test_one_reproduction_cannot_spoil_another(bench: MakeSetting) -> None:
    """Each reproduction runs in a copy that no other test has touched."""
    setting = bench()
    fixed = make_patch(FILES, {"shop.py": SHOP.replace("else None", "else 0")})
    spoils = (
        "import pathlib, shop\n\ndef test_total():\n    assert shop.total([]) == 0\n"
        "    pathlib.Path('shop.py').write_text('total = None')\n"
        "    pathlib.Path('conftest.py').write_text('raise SystemExit(0)')\n"
    )
    honest = "import shop\n\ndef test_mean():\n    assert shop.total([]) == 0\n"
    pool = [
        candidate("G1", fixed, {"tests/test_a.py": spoils}),
        candidate("G2", fixed, {"tests/test_b.py": honest}),
    ]
    evidence, _ = await verify_pool(setting.services(), await setting.environment(), pool)
    assert dict(evidence["G1"].reproductions) == {
        "G1:tests/test_a.py": "pass",
        "G2:tests/test_b.py": "pass",
    }


def test_a_changed_test_is_named_for_a_person() -> None:
    """A patch that edits an existing test is held, with the file's name."""
    patch = make_patch(FILES, {"tests/test_shop.py": TEST + "\n"})
    assert any("tests/test_shop.py" in reason for reason in check_patch(patch).held)


@pytest.mark.parametrize(
    "path", ["pytest.py", "src/pytest.py", "_pytest/runner.py", "sitecustomize.py", "site.py"]
)
def test_a_stand_in_for_the_runner_is_refused(path: str) -> None:
    """New files that Python would import instead of the runner's own are refused."""
    verdict = check_patch(make_patch({}, {path: "x = 1\n"}))
    assert any("test runner" in reason for reason in verdict.refused)


@pytest.mark.parametrize(
    ("path", "judging"),
    [
        ("tests/helpers.py", True),
        ("pkg/tests/test_a.py", True),
        ("test/common.js", True),
        ("pkg/test_thing.py", True),
        ("conftest.py", True),
        ("jest.config.js", True),
        ("pkg/thing.py", False),
        ("django/test/client.py", False),
        ("numpy/testing/utils.py", False),
        ("pyproject.toml", False),
    ],
)
def test_what_judges_and_what_is_source(path: str, judging: bool) -> None:
    """Tests, their helpers and the runner's settings judge; a library's test support does not."""
    assert judges(path) is judging
