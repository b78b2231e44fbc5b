"""From a Decision to the rows and sentences that the texts show. Pure.

Numbers and results are the harness's own; whatever a model or a repository wrote goes through
`app.messages.outgoing` on its way here.
"""

from dataclasses import dataclass
from textwrap import shorten

from app.messages.outgoing import code, inline
from pipeline.decide import renamed
from pipeline.values import Candidate, Decision, Evidence, Reproduction
from sandbox.patch.parse import PatchError
from sandbox.patch.patch import apply, parse


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One line of the table of what was run here, before and after the change."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One line of the run page's table of candidates; `group` and `votes` are "–" for none."""

    id: str
    approach: str
    files: str
    tests: str
    group: str
    votes: str
    chosen: bool


MAX_FILES = 20
_STAGE_WORDS = (("global", "explanation"), ("local", "variant"), ("synthesis", "synthesis"))
NO_PATCH = "no patch, the coder ended with "


def winner_of(decision: Decision) -> Candidate | None:
    """The candidate that won, None when nothing did."""
    return candidate(decision, decision.ballot.winner or "")


def candidate(decision: Decision, name: str) -> Candidate | None:
    """The candidate of that id."""
    return next((c for c in decision.candidates if c.id == name), None)


def check_rows(decision: Decision) -> tuple[CheckRow, ...]:
    """Reproductions first, then the suite; only what really ran is claimed."""
    winner = decision.ballot.winner or ""
    evidence = decision.evidence.get(winner)
    rows = []
    added = _added_files(decision)
    for reproduced in decision.reproductions:
        status = evidence.reproductions.get(reproduced.id, "missing") if evidence else "missing"
        what = f"reproduction {code(_short_test(reproduced.tests))}"
        what += " (added)" if _is_in(added, reproduced.reproduction) else ""
        rows.append(CheckRow(what, "✗ fails ×2", _STATUS[status]))
    before = inline(decision.baseline) or "not run"
    rows.append(CheckRow("regression suite", before, suite_result(evidence)))
    return tuple(rows)


def suite_note(decision: Decision) -> str:
    """What else there is to say of the winner's suite: a part of it only, a test that is flaky."""
    evidence = decision.evidence.get(decision.ballot.winner or "")
    return inline(evidence.note, 600) if evidence is not None else ""


def _added_files(decision: Decision) -> dict[str, str | None]:
    """Text by path of the files that the decision's patch adds."""
    parts = parse(decision.patch)
    return {
        part.new_path: apply(part, None)
        for part in parts
        if part.old_path is None and part.new_path is not None and not part.is_binary
    }


def _is_in(added: dict[str, str | None], given: Reproduction) -> bool:
    """Whether the patch adds exactly this test, under its name or the one that made room."""
    return any(added.get(path) == given.text for path in (given.path, renamed(given)))


_STATUS = {
    "pass": "✓ passes",
    "fail": "✗ fails",
    "error": "✗ error",
    "timeout": "✗ no answer in time",
    "missing": "not run",
}


def candidate_rows(decision: Decision) -> tuple[CandidateRow, ...]:
    """Every candidate with what it changes, what the tests said and where it stands."""
    groups = {name: each for each in decision.ballot.clusters for name in each.members}
    rows = []
    for given in decision.candidates:
        group = groups.get(given.id)
        rows.append(
            CandidateRow(
                id=given.id,
                approach=change_of(given),
                files=_counted_files(given.patch),
                tests=tests_in_words(decision.evidence.get(given.id), len(decision.reproductions)),
                group=group.label if group else "–",
                votes=str(group.votes) if group else "–",
                chosen=given.id == decision.ballot.winner,
            )
        )
    return tuple(rows)


def files_changed(decision: Decision) -> str:
    """The files of the patch with their added and removed lines, counted; "" without a patch."""
    return _counted_files(decision.patch)


def _counted_files(patch: str) -> str:
    try:
        parts = parse(patch)
    except PatchError:  # a candidate's that was refused for it
        return "not a whole patch"
    told = [
        f"{code(part.path)} +{len(part.added)} −{len(part.removed)}" for part in parts[:MAX_FILES]
    ]
    more = len(parts) - MAX_FILES
    return ", ".join(told) + (f" and {count(more, 'more file')}" if more > 0 else "")


def held(decision: Decision) -> tuple[str, ...]:
    """The policy's reasons to look closely at the winner; they are no reason against it."""
    evidence = decision.evidence.get(decision.ballot.winner or "")
    return evidence.policy.held if evidence is not None else ()


def written(decision: Decision) -> str:
    """How many patches there were when nothing could be chosen, in one sentence."""
    number = sum(bool(each.patch) for each in decision.candidates)
    if not number:
        return "No patch was written."
    verb = "was" if number == 1 else "were"
    none = "it did not pass" if number == 1 else "none passed"
    return f"{number} {'patch' if number == 1 else 'patches'} {verb} written; {none} every check."


def suite_result(evidence: Evidence | None) -> str:
    """What the suite did with the change, in words."""
    if evidence is None or not evidence.regression_ran:
        return "no verdict"
    parts = [f"{evidence.regression_passed} pass"]
    if evidence.not_run:
        parts.append(f"**{evidence.not_run} not run**")
    if evidence.lost:
        parts.append(f"**{count(len(evidence.lost), 'test')} lost**")
    if evidence.excluded:
        parts.append(f"{len(evidence.excluded)} changed on purpose, see below")
    return ", ".join(parts)


def change_of(shown: Candidate | None) -> str:
    if shown is None:
        return ""
    if not shown.patch:
        return f"{NO_PATCH}{code(shown.exit_status or 'nothing')}"
    return inline(shown.plan.summary, 120)


def tests_in_words(evidence: Evidence | None, reproductions: int) -> str:
    """What the tests said about a candidate, at most one short line."""
    if evidence is None:
        return "not verified"
    if not evidence.policy.ok:
        return "refused by the patch policy"
    if not evidence.applies:
        return "patch does not apply"
    if not evidence.parses:
        return "patch does not parse"
    parts = []
    if reproductions:
        passed = sum(status == "pass" for status in evidence.reproductions.values())
        parts.append(f"{passed} of {count(reproductions, 'reproduction')}")
    if evidence.lost:
        parts.append(count(len(evidence.lost), "regression"))
    elif evidence.regression_ran:
        parts.append(_no_regression(evidence))
    elif evidence.skipped:
        parts.append("suite not run")
    else:
        parts.append("suite gave no verdict")
    return ", ".join(parts)


def _no_regression(evidence: Evidence) -> str:
    if not evidence.not_run:
        return "no regression"
    count = evidence.regression_passed
    return f"no regression in {count} of {count + evidence.not_run} tests"


def origins(decision: Decision) -> tuple[str, ...]:
    """Where the parts of the winning plan came from, one sentence each."""
    winner = winner_of(decision)
    if winner is None:
        return ()
    told = []
    for change in winner.plan.changes:
        others = [name for name in change.sources if name != winner.id]
        if others:
            told.append(f"{code(change.path)} from {inline(', '.join(others), 60)}")
    if not told:
        told = [_built_on(decision, name, winner) for name in winner.parents]
    return tuple(told[:8])


def _built_on(decision: Decision, name: str, winner: Candidate) -> str:
    """What a plan took from the one it was made from; that one's own change stands beside it."""
    parent = candidate(decision, name)
    change = f" (there: “{inline(parent.plan.summary, 160)}”)" if parent is not None else ""
    if winner.stage == "local":
        return f"The explanation is that of {inline(name, 60)}, repaired in another way{change}"
    return f"The plan builds on {inline(name, 60)}{change}"


def synthesised(decision: Decision) -> tuple[str, ...]:
    """How the winning plan was put together: what was left out, and why, one sentence each."""
    winner = winner_of(decision)
    if winner is None or winner.synthesis is None:
        return ()
    made = winner.synthesis
    left_out = [
        f"{code(each.candidate)} had “{inline(each.idea, 160)}”: {inline(each.reason, 200)}"
        for each in made.rejected
    ]
    unreal = [
        f"a reviewer's doubt about {code(each.candidate)} did not hold "
        f"(“{inline(each.claim, 160)}”): {inline(each.reason, 200)}"
        for each in made.defects
        if each.verdict == "not_real"
    ]
    return tuple((left_out + unreal)[:8])


def contested(decision: Decision) -> tuple[str, ...]:
    """How the selectors voted where evidence and vote left a tie, one line each."""
    if decision.contest is None:
        return ()
    return tuple(
        f"{code(each.chosen) if each.chosen else 'nobody'} ({each.confidence}): "
        f"{inline(each.reason, 200)}"
        for each in decision.contest.votes[:5]
    )


def exploration(decision: Decision) -> str:
    """The candidates as a tree of text: stage, id, group, parents, what each one explained."""
    groups = {name: each.label for each in decision.ballot.clusters for name in each.members}
    lines = []
    for stage, word in _STAGE_WORDS:
        members = [c for c in decision.candidates if c.stage == stage]
        if members:
            lines.append(count(len(members), word))
        for member in members:
            parents = f" (from {', '.join(member.parents)})" if member.parents else ""
            cause = shorten(member.plan.solution.root_cause, 160, placeholder=" …")
            group = f" [{groups[member.id]}]" if member.id in groups else ""
            mark = " ✓" if member.id == decision.ballot.winner else ""
            lines.append(f"  {member.id}{group}{mark}{parents}: {cause}")
    return "\n".join(lines)


def counted(decision: Decision) -> str:
    """The exploration in one line, as "3 explanations → 6 variants → 3 syntheses"."""
    counts = [
        (sum(c.stage == stage for c in decision.candidates), word) for stage, word in _STAGE_WORDS
    ]
    return " → ".join(count(number, word) for number, word in counts if number)


def _short_test(tests: tuple[str, ...]) -> str:
    names = [test.rpartition("::")[2] or test for test in tests]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def count(number: int, word: str) -> str:
    """A number with its noun: 1 patch, 2 patches."""
    plural = {"synthesis": "syntheses", "patch": "patches"}.get(word, f"{word}s")
    return f"{number} {word if number == 1 else plural}"
