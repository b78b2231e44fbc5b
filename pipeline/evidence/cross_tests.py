"""Cross tests: each validated reproduction of the pool on each candidate (method.md §2.3.6)."""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.choose.gate import counted
from pipeline.evidence.bench import Bench, in_fresh_copies, is_forged
from pipeline.evidence.reproductions import run_reproduction
from pipeline.evidence.runs import check_status
from pipeline.values import CheckStatus, Evidence, Reproduced
from sandbox.base import Workspace


@dataclass(frozen=True, slots=True)
class Crossed:
    """What one reproduction did on one patch."""

    status: CheckStatus


async def cross_test(each: Reproduced, patch: str, bench: Bench) -> Crossed:
    """One reproduction on one patch, in a copy that no other test has touched."""

    async def work(workspace: Workspace, snapshot: str) -> Crossed | str:
        run = await run_reproduction(each.reproduction, workspace, snapshot)
        if is_forged(run, bench.environment.baseline):
            return "report and exit code contradict each other"
        status = check_status(run, each.tests, bench.environment.plan.runner)
        return f"no verdict: {run.why}" if status == "missing" else Crossed(status)

    found = await in_fresh_copies(patch, bench, work)
    return found if isinstance(found, Crossed) else Crossed("missing")


def beaten(evidence: Mapping[str, Evidence], bench: Bench) -> dict[str, str]:
    """Candidates that cannot win whatever the suite says, with the reason. Pure.

    `evidence` needs nothing but the cross tests. The gate refuses each of them for these alone, so
    no winner is lost by leaving their suite out; a larger pool may bring one back.
    """
    witnesses = counted(evidence, bench.reproductions)
    if not bench.reproductions:
        return {}
    if not witnesses:
        return dict.fromkeys(evidence, "nobody but its author passes any reproduction")
    statuses = {
        name: [seen.reproductions.get(each.id, "missing") for each in witnesses]
        for name, seen in evidence.items()
    }
    best = max(found.count("pass") for found in statuses.values())
    return {
        name: "it fails a reproduction of the bug"
        if set(found) - {"pass", "missing"}
        else "it passes fewer reproductions of the bug than others"
        for name, found in statuses.items()
        if found.count("pass") < best or set(found) - {"pass", "missing"}
    }
