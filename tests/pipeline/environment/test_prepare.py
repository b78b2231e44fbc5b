"""An environment, found by an agent where nothing is declared or detected, or a clear no."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from emulator.model.scripted import call, say
from pipeline.environment.agent import MAX_COMMANDS
from pipeline.errors import ModelRejected, NoEnvironment
from sandbox.base import Limits
from sandbox.environment.config import parse_config
from tests.pipeline.environment.conftest import CHECKS, QuickSandbox

GOOD = call("submit_setup", setup=["touch installed"], test="sh run-checks.sh")
BAD = call("submit_setup", setup=["touch elsewhere"], test="sh run-checks.sh")
EXITS = call("submit_setup", setup=["exit 9"], test="sh run-checks.sh")
MISSING = call("submit_setup", setup=[], test="sh nothing.sh")
EMPTY = call("submit_setup", setup=[], test="true && echo passed")
FAILING = {
    "go-no.txt": "x\n",
    ".github/prism.yml": "env:\n  setup: ['echo the reason; exit 3']\n  test: sh run-checks.sh\n",
    **{path: CHECKS[path] for path in ("run-checks.sh", "answer.txt")},
}


CI = "on: push\njobs:\n  t:\n    steps:\n    - run: {line}\n"


def turns(*answers: Any) -> dict[str, Any]:
    """The script of an agent that says these."""
    return {f"environment/setup/{n}": answer for n, answer in enumerate(answers)}


async def test_the_agents_setup_becomes_the_environment(office: Any) -> None:
    """What it tried is thrown away, what it handed in is replayed, and can be pinned."""
    desk = office()
    script = turns(
        [say("What is here?"), call("shell", command="ls; cat run-checks.sh")],
        [say("It wants a file."), call("shell", command="touch installed; sh run-checks.sh")],
        [say("That is all."), GOOD],
    )
    prepared = await desk.prepare(script)
    plan = prepared.environment.plan
    assert (plan.setup, plan.test, plan.origin) == (
        ("touch installed",),
        "sh run-checks.sh",
        "set-up agent",
    )
    assert prepared.environment.stable_passes == {"suite"}
    assert prepared.untested == ""
    config = parse_config(prepared.pin.encode())
    assert (config.setup, config.test) == (plan.setup, plan.test)


async def test_after_a_crash_nothing_is_asked_again(office: Any) -> None:
    """The found set-up is in the journal; the second start needs no model at all."""
    desk = office()
    first = await desk.prepare(turns([GOOD]))
    assert desk.calls == ["environment/setup/0"]
    second = await desk.prepare({})
    assert desk.calls == []
    assert second.environment.plan == first.environment.plan
    assert second.pin == first.pin


async def test_where_all_tests_do_not_end_those_of_the_issue_are_run(
    office: Any, tmp_path: Path
) -> None:
    """They speak for a patch, so no agent is asked for other ones, and it is told."""
    files = {
        "shop.py": "def total(items):\n    return sum(items)\n",
        "tests/__init__.py": "",
        "tests/test_hang.py": "import time\n\ntime.sleep(99)\n",
        "tests/test_shop.py": (
            "import unittest\nimport shop\n\n\nclass Shop(unittest.TestCase):\n"
            "    def test_total(self):\n        self.assertEqual(shop.total([1]), 1)\n"
        ),
        ".github/workflows/ci.yml": CI.format(line="python3 -m unittest discover -v"),
    }
    desk = office(files)
    desk.sandbox = QuickSandbox(
        data_dir=tmp_path / "data", allow=True, limits=Limits(test_timeout_s=3.0)
    )
    prepared = await desk.prepare({}, issue="A wrong total\nSee tests/test_shop.py.")
    assert desk.calls == []
    assert prepared.untested == ""
    assert prepared.environment.targets == (("tests/test_shop.py",),)
    assert prepared.environment.stable_passes == {"tests/test_shop.py::Shop::test_total"}


async def test_a_setup_that_does_not_replay_is_refused_with_its_reason(office: Any) -> None:
    """What worked in the agent's own container counts for nothing; the next attempt may pass."""
    desk = office()
    script = turns([call("shell", command="touch installed")], [BAD], [GOOD])
    prepared = await desk.prepare(script)
    assert desk.calls == [f"environment/setup/{n}" for n in range(3)]
    assert prepared.environment.stable_passes == {"suite"}


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (turns([BAD], [BAD], [BAD]), "3 set-ups did not replay"),
        (turns({"content": [say("No.")], "stop_reason": "refusal"}), "the model declined"),
        (turns([call("give_up", reason="There are no tests.")]), "There are no tests."),
        (turns(*[[say("Hm.")]] * 3), "called no tool"),
        (turns(*[[EMPTY]] * 4), "a warning did not help"),
        (turns([EXITS], [BAD], [MISSING]), "3 set-ups"),
    ],
)
async def test_without_a_setup_that_replays_the_run_goes_on_and_says_so(
    office: Any, script: dict[str, Any], words: str
) -> None:
    """Nothing failed to be set up, there is only no suite: that is told, with the agent's end."""
    desk = office()
    prepared = await desk.prepare(script)
    assert prepared.environment.baseline is None
    assert prepared.untested.startswith("No test command was found. The set-up agent")
    assert words in prepared.untested
    again = await desk.prepare({})
    assert again == prepared.__class__(again.environment, prepared.untested, "")
    assert desk.calls == []


async def test_a_used_up_budget_ends_the_agent_and_not_the_run(office: Any) -> None:
    """The call that does not fit is not made."""
    desk = office(limit_usd=0.0001)
    prepared = await desk.prepare(turns([GOOD]))
    assert desk.calls == []
    assert "the budget is used up" in prepared.untested


async def test_commands_are_counted(office: Any) -> None:
    """The sixteenth is not carried out; handing in still works."""
    desk = office()
    steps = [[call("shell", command=f"echo {n}")] for n in range(MAX_COMMANDS)]
    late = [call("shell", command="touch /tmp/prism-too-late; false")]
    prepared = await desk.prepare(turns(*steps, late, [GOOD]))
    assert prepared.environment.stable_passes == {"suite"}
    assert len(desk.calls) == MAX_COMMANDS + 2


async def test_a_refused_request_is_raised(office: Any) -> None:
    """It would be refused all run long; nothing is journaled as the agent's answer."""
    desk = office()
    with pytest.raises(ModelRejected):
        await desk.prepare({})  # the emulator knows no such address
    assert (await desk.prepare(turns([GOOD]))).pin


async def test_a_setup_people_wrote_down_is_not_second_guessed(office: Any) -> None:
    """It failed: no agent, the line, its exit code and its last words."""
    desk = office(FAILING)
    with pytest.raises(NoEnvironment, match="ended with 3") as caught:
        await desk.prepare(turns([GOOD]))
    assert desk.calls == []
    assert (caught.value.line, caught.value.exit_code) == ("echo the reason; exit 3", 3)
    assert "the reason" in caught.value.log
    assert caught.value.origin == ".github/prism.yml"


async def test_the_settings_may_allow_a_run_without_tests(office: Any) -> None:
    """Then there is an environment in which nothing was set up, and the reason is told."""
    allowed = yaml.safe_load(FAILING[".github/prism.yml"])
    allowed["env"]["untested"] = True
    desk = office({**FAILING, ".github/prism.yml": yaml.safe_dump(allowed)})
    prepared = await desk.prepare({})
    assert prepared.environment.plan.setup == ()
    assert prepared.environment.baseline is None
    assert "ended with 3" in prepared.untested


async def test_a_failed_setup_can_be_tried_again(office: Any, tmp_path: Path) -> None:
    """A run that ended without environment keeps no verdict: the reason may be gone."""
    line = f"test -e {tmp_path}/mended && touch installed"
    config = f"env:\n  setup: ['{line}']\n  test: sh run-checks.sh\n"
    desk = office({**FAILING, ".github/prism.yml": config})
    with pytest.raises(NoEnvironment):
        await desk.prepare({})
    assert '"event":"finish"' not in (desk.folder / "run.jsonl").read_text()
    (tmp_path / "mended").touch()
    assert (await desk.prepare({})).environment.stable_passes == {"suite"}
