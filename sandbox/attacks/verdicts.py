"""Making tests pass that do not."""

from sandbox.attacks.base import Attack, Finding, Scene
from sandbox.base import TestRun

_TAMPER = """
site=$(python -c "import site; print(site.getsitepackages()[0])")
echo 'import os; os._exit(0)' > "$site/evil.pth"
"""
# All that the harness's scripts use; nothing but built-in commands may run once they are there.
_NAMES = (
    "bash sh env git cat rm cp mv chmod chown find tar python3 perl ps kill mktemp stat realpath "
    "head tr sleep sed grep dirname mkdir iconv xargs sort id date"
)
_PLANT = f"""
for folder in /opt/venv/bin ~/.local/bin; do
  /bin/mkdir -p $folder
  for name in {_NAMES}; do
    /bin/rm -f $folder/$name
    printf '#!/bin/sh\\necho $0 >> /tmp/planted\\nexit 0\\n' > $folder/$name
    /bin/chmod 755 $folder/$name
  done
done
: > /tmp/planted; /bin/chmod 666 /tmp/planted; cat
"""
_RAN = 'printf %s "$(</tmp/planted)"'
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


async def _planted(scene: Scene) -> Finding:
    workspace = scene.workspace
    await scene.shell(_PLANT)
    control = (await scene.shell(_RAN)).output
    await scene.shell(": > /tmp/planted")
    await workspace.write("planted.txt", "kept\n")
    snapshot, patch = await workspace.snapshot(), await workspace.diff()
    late = await scene.shell("(while :; do :; done) & while :; do :; done", timeout_s=1.0)
    await workspace.restore(snapshot)
    again = await workspace.read("planted.txt")
    failed = await scene.shell("exit 3")
    ran = (await scene.shell(_RAN)).output.split()
    real = "+kept" in patch and again == "kept\n" and late.timed_out and failed.exit_code == 3
    return Finding(
        control.endswith("/opt/venv/bin/cat") and real and not ran,
        f"{len(_NAMES.split())} names planted, {len(ran)} run for the harness; patch, snapshot, "
        f"file, time limit and exit code {'real' if real else 'FORGED'}",
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
        "planted-programs", "verdicts",
        "programs named like all that the harness uses, in the virtual environment and at home",
        "the harness has a PATH, a home and variables of its own, all of them root's", _planted,
        alone=True,
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
