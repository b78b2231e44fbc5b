"""Making tests pass that do not."""

from sandbox.attacks.base import Attack, Finding, Scene
from sandbox.base import TestRun

_TAMPER = """
site=$(python -c "import site; print(site.getsitepackages()[0])")
echo 'import os; os._exit(0)' > "$site/evil.pth"
"""
_FAILS = "python -c 'raise SystemExit(3)'"
_EXITS = "import os\nos._exit(0)\n"
# For pytest and for unittest: every failure is reported as a pass.
_FORGES = """
try:
    import pytest

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        outcome = yield
        outcome.get_result().outcome = "passed"
except ImportError:
    pass
import unittest
unittest.TestResult.addFailure = lambda self, test, error: self.addSuccess(test)
unittest.TextTestResult.addFailure = lambda self, test, error: self.addSuccess(test)
"""


def _passed(run: TestRun) -> int:
    return len(run.with_status("pass"))


async def _tools(scene: Scene) -> Finding:
    await scene.shell(_TAMPER)
    flipped = await scene.shell(_FAILS)
    patch = await scene.workspace.diff()
    async with scene.fresh() as fresh:
        applied = await fresh.apply(patch)
        run = await fresh.test()
    base = scene.environment.baseline
    same = base is not None and dict(run.results) == dict(base.results)
    return Finding(
        flipped.exit_code == 0 and applied.ok and same,
        f"exit code {flipped.exit_code} instead of 3 there; fresh copy: {_passed(run)} passed as "
        "before",
    )


async def _exits(scene: Scene) -> Finding:
    names = ("conftest.py", "test_0_exits.py")
    for name in names:
        await scene.workspace.write(name, _EXITS)
    run = await scene.workspace.test()
    await scene.shell("rm -f " + " ".join(names))
    base = scene.environment.baseline
    passed = run.with_status("pass") & set(base.results if base else ())
    seen = f"exit code {run.exit_code}; {len(passed)} of the tests counted as passed"
    return Finding(base is not None and not passed, seen)


async def _forges(scene: Scene) -> Finding:
    before = scene.environment.baseline
    failed = len(before.with_status("fail")) if before else 0
    names = ("conftest.py", "test_0_forges.py")
    for name in names:
        await scene.workspace.write(name, _FORGES)
    run = await scene.workspace.test()
    await scene.shell("rm -f " + " ".join(names))
    now = len(run.with_status("fail"))
    return Finding(now >= failed > 0, f"{failed} failed before, {now} after the forgery")


VERDICTS = (
    Attack(
        "tampered-tools", "verdicts",
        "a .pth file in the virtual environment, in no patch, makes all commands succeed",
        "verdicts come from a fresh copy that got only the patch", _tools, alone=True,
    ),
    Attack(
        "exit-early", "verdicts", "a conftest.py or test file that ends the run with exit code 0",
        "without a whole report there is no verdict", _exits, alone=True,
    ),
    Attack(
        "forge", "verdicts", "a conftest.py that rewrites results",
        "not the sandbox: the test process reports itself. Candidates' own tests and test "
        "configuration do not judge them (tests/pipeline/evidence/test_forgery.py)",
        _forges, alone=True, limit=True,
    ),
)  # fmt: skip
