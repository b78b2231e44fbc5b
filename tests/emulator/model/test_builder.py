"""The built script, played through the real loop, is the run it was built from."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator.model.builder import build_script
from emulator.model.diff import Edit, Removal, edits_of
from emulator.model.script import Script, ScriptError, answer
from emulator.model.scripted import ScriptedCandidate, ScriptedRun, call, say
from pipeline.agent.finishing import plan_from
from pipeline.agent.limits import AgentLimits
from pipeline.agent.loop import AgentRun, run_agent
from pipeline.agent.roles import CODER, PLANNER
from pipeline.agent.transcript import Transcript
from pipeline.agent.writing import occurrences
from pipeline.index.graph import build_graph
from pipeline.index.search import CodeSearch
from pipeline.model.schema import validate
from pipeline.model.verdicts import (
    CompletenessVerdict,
    ContrastVerdict,
    ExclusionVerdict,
    GuideVerdict,
    JudgeVerdict,
    LocalGuideVerdict,
    RankVerdict,
    RiskVerdict,
)
from pipeline.services import CallAddress
from pipeline.values import Change, Exclusion, Location
from tests.fakes import LocalWorkspace, scripted_model
from tests.indexed import indexed

BASE = "def double(x):\n    return x\n\n\ndef half(x):\n    return x\n"
FIXED = "def double(x):\n    return x * 2\n\n\ndef half(x):\n    return x / 2\n"
REPRODUCTION = "from calc import double, half\n\nassert double(2) == 4\nassert half(4) == 2\n"


def patch_of(folder: Path, before: dict[str, str], after: dict[str, str]) -> str:
    """git's own patch from one set of files to another."""
    workspace = LocalWorkspace(folder, before)
    for path in before.keys() - after.keys():
        (folder / path).unlink()
    for path, text in after.items():
        (folder / path).write_bytes(text.encode())
    workspace._git("add", "-A")
    return workspace._git(
        "diff", "--cached", "--no-renames", "--binary", "--full-index", workspace.base
    )


def candidate(name: str, patch: str, **changes: object) -> ScriptedCandidate:
    """A candidate for calc.py."""
    fields: dict[str, object] = {
        "id": name,
        "summary": f"Plan of {name}.",
        "root_cause": f"The operator is missing, says {name}.",
        "expected_behaviour": f"double doubles, says {name}.",
        "strategy": f"Write it in the way of {name}.",
        "context": (Location("calc.py", "double", 1, 2, "returns its input"),),
        "changes": (Change("calc.py", "multiply", "double", "the issue says so"),),
        "patch": patch,
        "reproduction": (f"test_{name.lower().replace('.', '_')}.py", REPRODUCTION),
        "risks": ("Somebody relies on it.",),
        **changes,
    }
    return ScriptedCandidate(**fields)  # type: ignore[arg-type] # fields are checked at run time


@pytest.fixture
def fix(tmp_path: Path) -> str:
    """The patch from BASE to FIXED."""
    return patch_of(tmp_path / "made", {"calc.py": BASE}, {"calc.py": FIXED})


def whole_run(patch: str) -> ScriptedRun:
    """Twelve candidates with the same patch."""
    names = ["G1", "G2", "G3", *(f"L{g}.{j}" for g in (1, 2, 3) for j in (1, 2)), "S1", "S2", "S3"]
    excluded = (Exclusion("test_calc.py::test_old", "double should double", "it asserts 2"),)
    return ScriptedRun(
        tuple(candidate(name, patch) for name in names), {"calc.py": BASE}, exclusions=excluded
    )


async def test_a_coder_reproduces_its_patch(fix: str, tmp_path: Path) -> None:
    """Played by the real loop, the workspace's source diff is the given patch, byte for byte."""
    script = build_script(ScriptedRun((candidate("G1", fix),), {"calc.py": BASE}))
    workspace = LocalWorkspace(tmp_path / "w", {"calc.py": BASE})
    async with scripted_model(script) as model:
        run = await run_agent(
            model,
            CODER,
            Transcript("Repair."),
            CODER.tools(workspace, None),
            CallAddress("code", "G1", ""),
            AgentLimits(80),
        )
    assert (run.exit_status, run.output["tests"]) == ("submitted", ["test_g1.py"])
    assert workspace.tested == [("test_g1.py",), ("test_g1.py",)]
    results = [turn.user[0]["content"] for turn in run.transcript.turns]
    assert any(text.startswith("1 failed") for text in results)
    assert any(text.startswith("0 failed, 1 passed") for text in results)
    (workspace.root / "test_g1.py").unlink()
    assert await workspace.diff() == fix


@pytest.mark.parametrize("is_indexed", [True, False])
async def test_a_planner_hands_in_its_plan_at_the_fourth_turn(
    is_indexed: bool, fix: str, tmp_path: Path
) -> None:
    """A global planner leaves steps 1 and 2 to branch at, and its plan is the candidate's; with a
    code index all its calls are carried out, without one enough of them to go on."""
    script = build_script(whole_run(fix))
    workspace = LocalWorkspace(tmp_path / "w", {"calc.py": BASE})
    with indexed(tmp_path, {"calc.py": BASE}) as index:
        code = CodeSearch(index, build_graph(index)) if is_indexed else None
        run, fork = await planned(script, workspace, code)
    assert (run.exit_status, run.turns, fork.exit_status, fork.turns) == (
        "submitted",
        4,
        "submitted",
        2,
    )
    assert plan_from(run.output).summary == "Plan of G2."
    assert plan_from(fork.output).solution.strategy == "Write it in the way of L2.1."
    assert fork.transcript.turns[:1] == run.transcript.turns[:1]
    refused = [block for turn in run.transcript.turns for block in turn.user if "is_error" in block]
    assert len(refused) == (0 if is_indexed else 7)


async def planned(
    script: Script, workspace: LocalWorkspace, code: CodeSearch | None
) -> tuple[AgentRun, AgentRun]:
    """A global planner, and a local one that leaves it."""
    async with scripted_model(script) as model:
        run = await run_agent(
            model,
            PLANNER,
            Transcript("Plan."),
            PLANNER.tools(workspace, code),
            CallAddress("global", "G2", ""),
            AgentLimits(60),
        )
        fork = await run_agent(
            model,
            PLANNER,
            run.transcript.fork(2).append("Another way."),
            PLANNER.tools(workspace, code),
            CallAddress("local", "L2.1", ""),
            AgentLimits(60),
        )
    return run, fork


@pytest.mark.parametrize(
    ("address", "schema"),
    [
        ("global/G2/guide", GuideVerdict),
        ("global/G3/contrast", ContrastVerdict),
        ("local/L1.1/rank", RankVerdict),
        ("local/L3.2/guide", LocalGuideVerdict),
        ("synthesis/S1/completeness", CompletenessVerdict),
        ("synthesis/S2/risk", RiskVerdict),
        ("synthesis/S3/judge", JudgeVerdict),
        ("verify/exclusions/exclusions", ExclusionVerdict),
    ],
)
def test_every_verdict_has_its_schema(address: str, schema: type, fix: str) -> None:
    """What the builder answers is valid for the verdict that is asked at the address."""
    found = answer(build_script(whole_run(fix)), address)
    assert found is not None
    assert isinstance(validate(schema, found[0][0]["input"]), schema)


def test_a_judge_names_a_source_for_every_change(fix: str) -> None:
    """A change without sources is the spine's."""
    found = answer(build_script(whole_run(fix)), "synthesis/S2/judge")
    assert found is not None
    assert [change["sources"] for change in found[0][0]["input"]["changes"]] == [["G2"]]


@pytest.mark.parametrize(
    ("ending", "status", "turns"), [("gives_up", "submitted", 5), ("rambles", "malformed", 3)]
)
async def test_a_coder_that_fails_leaves_no_source_change(
    ending: str, status: str, turns: int, fix: str, tmp_path: Path
) -> None:
    """Pathological coders end as they should and change no source."""
    one = candidate("G1", fix, ending=ending)
    script = build_script(ScriptedRun((one,), {"calc.py": BASE}))
    workspace = LocalWorkspace(tmp_path / "w", {"calc.py": BASE})
    async with scripted_model(script) as model:
        run = await run_agent(
            model,
            CODER,
            Transcript("x"),
            CODER.tools(workspace, None),
            CallAddress("code", "G1", ""),
            AgentLimits(80),
        )
    assert (run.exit_status, run.turns) == (status, turns)
    assert await workspace.read("calc.py") == BASE


def test_raw_answers_replace_and_extra_turns_come_before_submit(fix: str) -> None:
    """A scenario can say anything at any address."""
    extra = (say("A link."), call("shell", command="ln -s /etc/passwd x"))
    run = ScriptedRun(
        (candidate("G1", fix, extra_turns=(extra,)),),
        {"calc.py": BASE},
        answers={"global/G1/extra": [say("no")]},
    )
    script = build_script(run)
    assert script["global/G1/extra"] == [say("no")]
    turns = [entry for address, entry in script.items() if address.startswith("code/G1/")]
    assert turns[-3] == list(extra)


def test_a_patch_that_does_not_fit_is_named(fix: str) -> None:
    """A wrong base text is an error with the candidate and the path, not a wrong script."""
    run = ScriptedRun((candidate("L1.2", fix),), {"calc.py": "something else\n"})
    with pytest.raises(ScriptError, match=r"L1\.2: The patch does not apply .* calc\.py"):
        build_script(run)


LINES = st.lists(st.sampled_from(["a", "b", "", "  a", "x = 1", "é\f"]), max_size=14)
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + ("\n" if end and lines else ""), LINES, st.booleans()
)


@given(before=TEXTS, after=TEXTS, other=st.none() | TEXTS, kept=st.none() | TEXTS)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_edits_make_the_patch(
    before: str,
    after: str,
    other: str | None,
    kept: str | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """For any two texts, with a file made or removed beside, the edits turn one into the other."""
    files = {"f.txt": before, **({} if kept is None else {"gone.txt": kept})}
    wanted = {"f.txt": after, **({} if other is None else {"new.txt": other})}
    patch = patch_of(tmp_path_factory.mktemp("patch") / "p", files, wanted)
    texts = dict(files)
    for step in edits_of(patch, files):
        match step:
            case Removal(path):
                del texts[path]
            case Edit(path, _, new, True):
                assert path not in texts
                texts[path] = new
            case Edit(path, old, new, _):
                assert occurrences(texts[path], old) == 1
                texts[path] = texts[path].replace(old, new, 1)
    assert texts == wanted


def test_a_context_line_without_its_space_is_read(tmp_path: Path) -> None:
    """Editors strip the space of an empty context line; the patch is still the same."""
    before = "a\n\nb\n"
    patch = patch_of(tmp_path / "p", {"f.txt": before}, {"f.txt": "a\n\nc\n"})
    stripped = patch.replace("\n \n", "\n\n")
    assert stripped != patch
    assert edits_of(stripped, {"f.txt": before}) == edits_of(patch, {"f.txt": before})
