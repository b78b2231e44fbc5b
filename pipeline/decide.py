"""From candidates to a Decision: evidence, the vote, and the patch that gets published."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from pipeline.choose.gate import counted
from pipeline.choose.vote import vote
from pipeline.evidence.exclusions import find_exclusions
from pipeline.evidence.patch import combine, paths
from pipeline.evidence.verify import verify_pool
from pipeline.explore.state import Exploration
from pipeline.items import step
from pipeline.notes import baseline_note, environment_note
from pipeline.values import Ballot, Candidate, Decision, Evidence, Reproduced


async def decide(
    x: Exploration, candidates: tuple[Candidate, ...], notes: tuple[str, ...] = ()
) -> Decision:
    """Verify every candidate, vote, and put the winner's patch together with its tests.

    Costs at most one model call and one workspace for each different patch. The vote itself is
    pure: `vote` over the decision's own evidence gives the same ballot again.
    """
    services = x.services
    exclusions = await find_exclusions(services, x.task, x.environment, candidates)
    evidence, reproductions = await verify_pool(services, x.environment, candidates, exclusions)
    ballot = vote(
        candidates,
        evidence,
        reproductions,
        has_suite=bool(x.environment.stable_passes),
        require_tests=services.config.require_tests,
    )

    async def work(_attempt: int) -> Decision:
        return Decision(
            outcome="patch" if ballot.winner else "no_patch",
            patch=published_patch(ballot, candidates, evidence, reproductions),
            candidates=candidates,
            evidence=evidence,
            ballot=ballot,
            reproductions=reproductions,
            exclusions=exclusions,
            isolation=services.sandbox.isolation,
            environment=environment_note(x.environment),
            baseline=baseline_note(x.environment),
            notes=notes,
        )

    decision = await step(services.journal, "vote", "decision", Decision, work)
    await services.progress.update("vote", 1, 1, decision.ballot.rule)
    return decision


def published_patch(
    ballot: Ballot,
    candidates: tuple[Candidate, ...],
    evidence: Mapping[str, Evidence],
    reproductions: tuple[Reproduced, ...],
) -> str:
    """The winner's source patch with validated reproductions as new files; "" without a winner.

    Its own reproductions are taken; when it has none, all counted ones that it passes. A path
    that is taken gets the author's id in its name.
    """
    if ballot.winner is None:
        return ""
    (winner,) = (each for each in candidates if each.id == ballot.winner)
    passed = evidence[winner.id].reproductions
    good = [each for each in reproductions if passed.get(each.id) == "pass"]
    own = [each for each in good if each.reproduction.author == winner.id]
    shared = {each.id for each in counted(evidence, reproductions)}
    files: dict[str, str] = {}
    taken = set(paths(winner.patch))
    for each in own or [each for each in good if each.id in shared]:
        path = each.reproduction.path
        if path in taken:
            path = _renamed(path, each.reproduction.author)
        taken.add(path)
        files[path] = each.reproduction.text
    return combine(winner.patch, files)


def _renamed(path: str, author: str) -> str:
    name = PurePosixPath(path)
    return str(name.with_name(f"{name.stem}_{author.lower().replace('.', '_')}{name.suffix}"))
