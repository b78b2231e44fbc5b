"""Verdicts come from fresh containers that got a patch and nothing else of the coder's."""

from functools import partial

import pytest

from pipeline.evidence.verify import Bench, verify
from pipeline.values import Candidate, Evidence, Plan, Reproduced, Reproduction, Solution
from sandbox.base import Command, Environment, Source
from sandbox.docker import DockerSandbox

pytestmark = pytest.mark.engine

PASS = "tests/test_total.py::test_total"
# Everything beside the tree that a coder's commands may write, so that all tests pass there.
TAMPER = """
site=$(python -c 'import site; print(site.getsitepackages()[0])')
cat > "$site/evil.pth" <<'X'
import sys, os; "pytest" in " ".join(sys.orig_argv) and os._exit(os.system("/opt/venv/evil"))
X
cat > /opt/venv/evil <<'X'
#!/bin/sh
for word in $PYTEST_ADDOPTS; do case $word in --junitxml=*) report=${word#*=} ;; esac; done
echo '<testsuites><testsuite><testcase classname="tests.test_total" name="test_total"
 file="tests/test_total.py"/></testsuite></testsuites>' > "$report"
X
chmod +x /opt/venv/evil; cp /opt/venv/evil /opt/venv/bin/pytest
mkdir -p build ~/.config; echo 'exit 0' > ~/.bashrc; echo hidden > build/conftest.py
git config core.hooksPath /opt/venv/bin; echo '*' > .git/info/exclude
"""


LEARNS = """import pathlib

learned = pathlib.Path.home() / "learned"


def total(prices):
    if learned.exists():
        return sum(prices)
    learned.touch()
    return 0
"""


async def judged(
    patch: str, docker: DockerSandbox, prepared: Environment, shop: Source, *known: Reproduced
) -> Evidence:
    """The evidence of a patch."""
    opener = partial(docker.workspace, prepared, "verify", "run-verdicts")
    nothing = Plan("", Solution("", "", "", ()), ())
    candidate = Candidate("G1", "global", (), nothing, patch)
    return await verify(candidate, Bench(shop, prepared, opener, known))


async def test_a_second_try_starts_afresh(
    docker: DockerSandbox, prepared: Environment, shop
) -> None:
    """A patch that fails, remembers it outside the tree and passes then has still lost the test."""
    async with docker.workspace(prepared, "candidate", "run-verdicts") as coder:
        await coder.write("src/shop/__init__.py", LEARNS)
        patch = await coder.diff()
    assert (await judged(patch, docker, prepared, shop)).lost == (PASS,)


async def test_a_tampered_environment_decides_nothing(
    docker: DockerSandbox, prepared: Environment, shop
) -> None:
    """A coder whose virtual environment says that all is well is told what a fresh one says."""
    async with docker.workspace(prepared, "candidate", "run-verdicts") as coder:
        await coder.exec(Command(TAMPER))
        await coder.write("src/shop/__init__.py", "def total(prices):\n    return 0\n")
        tampered = await coder.test()
        assert tampered.exit_code == 0
        assert tampered.results[PASS] == "pass"
        patch = await coder.diff()
    assert patch.count("diff --git") == 1
    shown = "import shop\n\ndef test_joined():\n    assert shop.total([2, 2]) == 4\n"
    reproduction = Reproduction("tests/test_joined.py", shown, "G1")
    reproduced = Reproduced("R1", reproduction, ("tests/test_joined.py::test_joined",))
    evidence = await judged(patch, docker, prepared, shop, reproduced)
    assert evidence.regression_ran
    assert evidence.lost == (PASS,)
    assert dict(evidence.reproductions) == {"R1": "fail"}
