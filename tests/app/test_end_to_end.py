"""The main job as a user has it: a label goes in, one draft pull request comes out."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import httpx
import pytest

from app.intake.signature import sign
from app.ledger.runs import Run
from app.replay import SAME, replay_run
from app.settings import Settings
from emulator.model.scripted import say
from pipeline.journal import read_events
from pipeline.recording import recorded
from tests import small
from tests.installation import SECRET, installed


async def test_a_label_becomes_one_draft_pull_request(tmp_path: Path) -> None:
    """The vote's winner is published once, as a draft that closes the issue, with the table.

    What is on the branch is its patch, and that passes what no candidate has seen. The ledger
    alone decides the same again, and gives away every call and tool result, but no key.
    """
    async with installed(tmp_path, small.script()) as prism:
        prism.label()
        run = await prism.ended()

        (pull,) = prism.pulls
        assert run.state == "done", run.outcome
        assert pull.pull.draft
        assert pull.pull.head_ref == "prism/issue-1"
        assert "Fixes #1" in pull.body
        assert "| **A** (" in pull.body
        assert "recipe `prism`, models `scripted`" in pull.body
        assert "at list prices; nothing was paid" in pull.body
        (comment,) = prism.comments
        assert f"#{pull.number}" in comment.body
        text = await _show(prism.repository.path, "prism/issue-1:calc.py")
        names: dict[str, object] = {}
        exec(text, names)
        assert names["double"](21) == 42  # type: ignore[operator] # defined by the text
        assert names["half"](42) == 21  # type: ignore[operator] # defined by the text
        called = {each["address"] for each in await prism.calls()}
        await asyncio.to_thread(_check_replay, prism.data, run.id, called, tmp_path / "run.jsonl")


def _check_replay(data: Path, run_id: str, called: set[str], export: Path) -> None:
    assert replay_run(Settings(data_dir=data), run_id, export) == SAME
    kept = list(recorded(read_events(export.read_text())))
    assert {each.address for each in kept if each.kind == "call"} == called
    assert {each.address for each in kept if each.kind == "tool"} <= called
    assert SECRET not in export.read_text()


async def test_the_same_delivery_five_times_in_parallel_is_one_run(tmp_path: Path) -> None:
    """Of five identical deliveries one is taken; there is one run and one pull request."""
    async with installed(tmp_path, small.script()) as prism:
        url = f"http://127.0.0.1:{prism.environ['PORT']}/api/github/webhooks"
        prism.hub.webhook("http://127.0.0.1:9/", SECRET)  # nobody listens: we deliver it ourselves
        prism.label()
        await asyncio.to_thread(prism.hub.webhooks.settle)
        sent = prism.hub.webhooks.deliveries
        (delivery,) = [each for each in sent if each.action == "labeled"]
        body = json.dumps(delivery.payload).encode()
        headers = {
            "x-github-event": "issues",
            "x-github-delivery": delivery.guid,
            "x-hub-signature-256": sign(SECRET, body),
            "content-type": "application/json",
        }
        async with httpx.AsyncClient() as client:
            answers = await asyncio.gather(
                *(client.post(url, content=body, headers=headers) for _ in range(5))
            )
        run = await prism.ended()

        assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 200, 202]
        assert run.generation == 1
        assert len(prism.pulls) == 1
        _check_nothing_was_paid_twice(await prism.calls())


async def test_rerun_makes_a_second_generation_on_its_own_branch(tmp_path: Path) -> None:
    """`/prism rerun` after the first run ends in a second pull request from a second branch."""
    async with installed(tmp_path, small.script()) as prism:
        prism.label()
        await prism.ended()
        prism.hub.comment(prism.repository, prism.issue, "/prism rerun", prism.hub.maintainer)
        run = await prism.ended(generation=2)

        assert run.state == "done", run.outcome
        assert [each.pull.head_ref for each in prism.pulls] == ["prism/issue-1", "prism/issue-1-2"]


async def test_no_candidate_that_passes_means_no_pull_request(tmp_path: Path) -> None:
    """When every patch breaks an existing test, the findings go to the issue and nothing else.

    An operator who wants no texts kept can still have the decision made again.
    """
    breaking = {"patch": small.patch(small.BREAKS_ZERO)}
    changes = {name.replace(".", "_"): dict(breaking) for name in small.NAMES}
    changes["S3"] = {"patch": "", "ending": "gives_up"}
    async with installed(tmp_path, small.script(**changes), PRISM_RECORD="no") as prism:
        prism.label()
        run = await prism.ended()

        assert run.state == "no_fix"
        await asyncio.to_thread(_check_replay, prism.data, run.id, set(), tmp_path / "run.jsonl")
        assert prism.pulls == []
        (comment,) = prism.comments
        assert "no confident patch" in comment.body


async def test_a_missing_model_key_is_told_on_the_issue(tmp_path: Path) -> None:
    """Without a key the run ends with a plain message, and nothing is published."""
    async with installed(tmp_path, small.script(), ANTHROPIC_API_KEY="") as prism:
        prism.label()
        run = await prism.ended()

        assert run.state == "failed"
        assert run.finished_at is not None
        assert run.finished_at - run.created_at < 60
        (comment,) = prism.comments
        assert "key" in comment.body
        assert prism.pulls == []


async def test_a_refused_key_parks_the_run_until_somebody_acts(tmp_path: Path) -> None:
    """It waits without a crash, the issue says for what, and the log has it once."""
    script = small.script()
    async with installed(
        tmp_path, script, ANTHROPIC_API_KEY="refused", PRISM_SWEEP_SECONDS="1"
    ) as (prism):
        prism.label()

        async def parked_twice() -> Run | None:
            run = await prism.run()
            parked = run is not None and run.state == "waiting_provider" and run.epoch > 1
            return run if parked else None

        run = await prism.until(parked_twice)
        assert (run.crash_count, run.released) == (0, True)
        (comment,) = prism.comments
        assert "is waiting" in comment.body
        assert "key" in comment.body
        log = prism.processes.tail("worker1", 10_000)
        assert log.count("Runs wait for the model provider") == 1


@pytest.mark.nightly
async def test_a_model_that_declines_ends_the_run_in_neutral_words(tmp_path: Path) -> None:
    """Half of the samples refused: nothing of the answers is shown, nothing is asked again."""
    said = {"content": [say("I will not touch cursed code.")], "stop_reason": "refusal"}
    script = {**small.script(), **{f"global/G{k}/0": said for k in (1, 2, 3)}}
    async with installed(tmp_path, script) as prism:
        prism.label()
        run = await prism.ended()

        assert run.state == "refused", run.outcome
        (comment,) = prism.comments
        assert "declined" in comment.body
        assert "cursed" not in comment.body + str(run.outcome)
        addresses = [each["address"] for each in await prism.calls()]
        assert len(addresses) == len(set(addresses))
        assert prism.pulls == []


async def test_a_model_that_does_not_answer_is_waited_for(tmp_path: Path) -> None:
    """While the API is overloaded the issue says so; afterwards the run goes on by itself."""
    async with installed(tmp_path, small.script(), PRISM_SWEEP_SECONDS="2") as prism:
        await prism.model("POST", "faults", {"kind": "529", "address": "global/G2/0", "times": 6})
        prism.label()

        async def waiting() -> bool:
            return any("is waiting" in each.body for each in prism.comments)

        await prism.until(waiting)
        run = await prism.ended()

        assert (run.state, run.crash_count) == ("done", 0), run.outcome
        assert len(prism.comments) == 1
        assert "is waiting" not in prism.comments[0].body


async def test_a_patch_to_workflows_or_with_a_symlink_is_refused(tmp_path: Path) -> None:
    """The ledger keeps the reason; the honest candidates go on to win."""
    workflow = "".join(
        f"{line}\n"
        for line in (
            "diff --git a/.github/workflows/x.yml b/.github/workflows/x.yml",
            "new file mode 100644",
            "--- /dev/null",
            "+++ b/.github/workflows/x.yml",
            "@@ -0,0 +1 @@",
            "+on: push",
        )
    )
    link = ({"type": "tool_use", "name": "shell", "input": {"command": "ln -s /etc/passwd l"}},)
    changes = {
        "G1": {"patch": small.patch(small.FIXED) + workflow},
        "L1_1": {"extra_turns": (link,)},
    }
    async with installed(tmp_path, small.script(**changes)) as prism:
        prism.label()
        run = await prism.ended()

        assert run.state == "done", run.outcome
        seen = {each.name: each.output for each in await prism.items(run.id)}
        assert ".github/workflows/x.yml" in str(seen["G1"]["policy"]["refused"])
        assert "symbolic link" in str(seen["L1.1"]["policy"]["refused"])


def _check_nothing_was_paid_twice(calls: list[dict[str, object]]) -> None:
    """One run, and each attempt of a call once; a machine that stalls may cost an attempt."""
    assert len({call["run"] for call in calls}) == 1
    seen = Counter((call["address"], call["attempt"]) for call in calls)
    assert {call for call, count in seen.items() if count > 1} == set()


async def _show(repository: Path, name: str) -> str:
    git = await asyncio.create_subprocess_exec(
        *("git", "-C", str(repository), "show", name), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await git.communicate()
    return output.decode()
