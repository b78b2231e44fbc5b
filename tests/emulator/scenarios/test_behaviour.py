"""Run the projects' own tests and the reproductions on every patch: the gate finds what is meant.

Four minutes on a quiet machine, so nightly. Uses pip and a venv in place of a sandbox; the patches
are ours.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from emulator.model.scripted import ScriptedCandidate
from emulator.scenarios.scenario import Scenario
from pipeline.choose.gate import gate
from pipeline.choose.normalise import key
from pipeline.index.units import parses
from pipeline.values import (
    Candidate,
    Edit,
    Evidence,
    Plan,
    PolicyVerdict,
    Reproduced,
    Reproduction,
    Solution,
)
from sandbox.patch.patch import apply, parse

ACCEPTANCE = Path(__file__).parent / "acceptance"
pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]


@dataclass
class Tree:
    """A repository and an environment with what its tests need, the project itself left out."""

    path: Path
    test: str
    environ: Mapping[str, str]

    @contextmanager
    def patched(self, patch: str) -> Iterator[None]:
        """The tree with a patch, and as it was afterwards."""
        if patch:
            subprocess.run(["git", "apply", "-"], cwd=self.path, input=patch, text=True, check=True)
        try:
            yield
        finally:
            subprocess.run(["git", "reset", "-q", "--hard"], cwd=self.path, check=True)
            subprocess.run(["git", "clean", "-fdq"], cwd=self.path, check=True)

    def run(self, *targets: str) -> dict[str, str]:
        """Test id to pass, fail, error or skip."""
        report = self.path.with_name("report.xml")
        report.unlink(missing_ok=True)
        line = f"{self.test} -p no:cacheprovider --junit-xml={report} {shlex.join(targets)}"
        subprocess.run(
            ["bash", "-c", line], cwd=self.path, env=self.environ, check=False, capture_output=True
        )
        results: dict[str, str] = {}
        for case in ET.parse(report).iter("testcase") if report.exists() else ():
            test = f"{case.get('classname')}::{case.get('name')}"
            kinds = [k for k in ("error", "failure", "skipped") if case.find(k) is not None]
            if results.get(test, "pass") == "pass":
                results[test] = kinds[0] if kinds else "pass"
        return results

    def reproduces(self, name: str, text: str) -> str:
        """What a reproduction does on the tree as it is now."""
        target = self.path / name
        target.write_text(text)
        results = set(self.run(name).values())
        target.unlink()
        return "pass" if results == {"pass"} else "fail" if "failure" in results else "error"


@pytest.fixture(scope="session")
def tree(scenario: Scenario, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The project with its test dependencies from the package index."""
    venv = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    environ = {
        **os.environ,
        "PATH": f"{venv / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(base),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for line in scenario.environment.setup:
        subprocess.run(["bash", "-c", line], cwd=base, env=environ, check=True)
    return Tree(base, scenario.environment.test, environ)


async def test_the_gate_finds_what_is_meant(scenario: Scenario, tree: Tree) -> None:
    """Reproductions fail on the base; rejected candidates do not pass the gate, others do."""
    passes = {test for test, got in tree.run().items() if got == "pass"}
    assert len(passes) > 100
    pool = {
        f"{each.id}:{each.reproduction[0]}": each
        for each in scenario.candidates
        if each.reproduction
    }
    for test in {each.reproduction for each in pool.values() if each.reproduction}:
        assert tree.reproduces(*test) == "fail"
    seen: dict[str, Evidence] = {}
    evidence = {}
    for each in scenario.candidates:
        if each.patch not in seen:  # equal patches behave alike
            seen[each.patch] = await _evidence(each, tree, passes, pool)
        evidence[each.id] = seen[each.patch]
    gates = gate(
        [_candidate(each) for each in scenario.candidates],
        evidence,
        [_reproduced(name, each) for name, each in pool.items()],
        has_suite=True,
    )
    reasons = {each.candidate: each.reasons for each in gates if not each.ok}
    assert reasons.keys() == scenario.intended.rejected.keys(), reasons


def test_winners_have_the_behaviour_that_is_asked_for(scenario: Scenario, tree: Tree) -> None:
    """Tests that the script does not contain fail on the base and pass on every winner."""
    for path in ACCEPTANCE.glob(f"{scenario.name}_*.py"):
        # inside of the tree, where pytest reads the project's configuration and not ours
        test = (f"tests/test_{path.name}", path.read_text())
        assert tree.reproduces(*test) == "fail"
        for name in scenario.intended.winners:
            with tree.patched(scenario.candidate(name).patch):
                assert tree.reproduces(*test) == "pass", name


async def _evidence(
    candidate: ScriptedCandidate,
    tree: Tree,
    passes: set[str],
    pool: Mapping[str, ScriptedCandidate],
) -> Evidence:
    before = {part.path: (tree.path / part.path).read_text() for part in parse(candidate.patch)}
    after = {part.path: apply(part, before[part.path]) for part in parse(candidate.patch)}
    with tree.patched(candidate.patch):
        lost = _lost(tree, passes)
        if len(lost) < 8:  # some projects' tests mind a busy machine
            lost &= _lost(tree, passes)
        tests = {each.reproduction for each in pool.values() if each.reproduction}
        got = {test: tree.reproduces(*test) for test in tests}
        reproductions = {
            name: got[each.reproduction] for name, each in pool.items() if each.reproduction
        }
    return Evidence(
        candidate.id,
        PolicyVerdict(),
        applies=True,
        parses=all([await parses(path, text) for path, text in after.items() if text is not None]),
        edit=Edit(key(candidate.patch, before, after)),
        regression_ran=True,
        lost=tuple(sorted(lost)),
        reproductions=reproductions,  # type: ignore[arg-type]  # texts from a closed set
    )


def _lost(tree: Tree, passes: set[str]) -> set[str]:
    results = tree.run()
    return {test for test in passes if results.get(test) != "pass"}


def _candidate(candidate: ScriptedCandidate) -> Candidate:
    plan = Plan(candidate.summary, Solution("", "", "", ()), candidate.changes)
    return Candidate(candidate.id, "global", (), plan, candidate.patch)


def _reproduced(name: str, candidate: ScriptedCandidate) -> Reproduced:
    assert candidate.reproduction is not None
    path, text = candidate.reproduction
    return Reproduced(name, Reproduction(path, text, candidate.id), (path,))
