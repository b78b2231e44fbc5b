"""The groups of the vote as rows and sentences, true of every candidate they stand for. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.messages.outgoing import code, inline
from app.messages.view import NO_PATCH, candidate, change_of, count, tests_in_words
from pipeline.values import Candidate, Cluster, Decision

_OUTVOTED = "It passed every check with fewer votes."
_UNSAID = "It did not pass every check."
MAX_REASONS = 3


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One line of the vote table; `reason` says why the group could not win, "" when it could."""

    label: str
    members: str
    votes: int
    change: str
    tests: str
    outcome: str
    chosen: bool
    reason: str = ""


def group_rows(decision: Decision) -> tuple[GroupRow, ...]:
    """The vote table, winner first; candidates without a usable patch come last as one row."""
    rows = [_group_row(decision, cluster) for cluster in decision.ballot.clusters]
    grouped = {member for cluster in decision.ballot.clusters for member in cluster.members}
    rest = [c for c in decision.candidates if c.id not in grouped]
    if rest:
        rows.append(
            GroupRow(
                label="–",
                members=", ".join(c.id for c in rest),
                votes=0,
                change="no usable patch",
                tests="",
                outcome="; ".join(f"{c.id}: {_why_unusable(decision, c)}" for c in rest),
                chosen=False,
            )
        )
    return tuple(rows)


def _group_row(decision: Decision, cluster: Cluster) -> GroupRow:
    chosen = decision.ballot.winner in cluster.members
    speaker = (decision.ballot.winner if chosen else cluster.members[0]) or ""
    shown = candidate(decision, speaker)
    return GroupRow(
        label=cluster.label,
        members=", ".join(cluster.members),
        votes=cluster.votes,
        change=change_of(shown),
        tests=_tests_of_group(decision, cluster, speaker),
        outcome=f"**chosen** ({speaker})" if chosen else _outcome(decision, cluster),
        chosen=chosen,
        reason="" if chosen else _reason(decision, cluster),
    )


def _tests_of_group(decision: Decision, cluster: Cluster, speaker: str) -> str:
    """What the tests said about the one whose change is shown, and for how many they said it."""
    number = len(decision.reproductions)
    said = {
        name: tests_in_words(decision.evidence.get(name), number)
        for name in (speaker, *cluster.members)
    }
    same = sum(said[name] == said[speaker] for name in cluster.members)
    total = len(cluster.members)
    return (
        said[speaker]
        if same == total
        else f"{speaker}: {said[speaker]} (the same for {same} of {total})"
    )


def _outcome(decision: Decision, cluster: Cluster) -> str:
    if not cluster.gated:
        return "rejected"
    return "passed, fewer votes" if decision.ballot.winner else "not chosen"


def _reason(decision: Decision, cluster: Cluster) -> str:
    """Why no member may win, "" when one may."""
    return "" if cluster.gated else _reason_of(decision, cluster.members)


def _reason_of(decision: Decision, members: Sequence[str]) -> str:
    """The first reason of each member, with the names beside it where they differ."""
    gates = {gate.candidate: gate for gate in decision.ballot.gates}
    names: dict[str, list[str]] = {}
    for member in members:
        gate = gates.get(member)
        reason = gate.reasons[0] if gate is not None and gate.reasons else _UNSAID
        names.setdefault(inline(reason, 300), []).append(member)
    if len(names) == 1:
        return next(iter(names))
    told = [f"{', '.join(those)}: {reason}" for reason, those in names.items()]
    more = len(told) - MAX_REASONS
    return " ".join(told[:MAX_REASONS]) + (f" And {count(more, 'more reason')}." * (more > 0))


def _why_unusable(decision: Decision, given: Candidate) -> str:
    evidence = decision.evidence.get(given.id)
    if evidence is not None and evidence.policy.refused:
        return inline(evidence.policy.refused[0], 160)
    if evidence is not None and evidence.note:
        return inline(evidence.note, 160)
    if given.patch:
        return tests_in_words(evidence, 0)
    return f"the coder ended with {code(given.exit_status or 'nothing')}"


def agreement(decision: Decision) -> str:
    """How many candidates stand in the winner's group."""
    total = len(decision.candidates)
    for cluster in decision.ballot.clusters:
        if decision.ballot.winner in cluster.members:
            return f"{cluster.votes} of {count(total, 'candidate')} in the winning group"
    return f"none of {count(total, 'candidate')} passed"


def dissent(decision: Decision) -> tuple[str, ...]:
    """Whom of the winning group a check turned down, what other groups would have done; and why."""
    apart = [
        f"**{cluster.label}**: not {', '.join(out)}. {_reason_of(decision, out)}"
        for cluster in decision.ballot.clusters
        if decision.ballot.winner in cluster.members
        and (out := [name for name in cluster.members if name not in cluster.gated])
    ]
    others = [
        f"**{row.label}** ({row.votes}): {row.change}. {row.reason or _OUTVOTED}"
        for row in group_rows(decision)
        if not row.chosen and row.label != "–" and not row.change.startswith(NO_PATCH)
    ]
    return tuple(apart + others)[:6]
