"""A pool as the vote looks at it: who may win, who stands together, and in which order. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.choose.kernel import similarity, soft_scores
from pipeline.choose.order import Place, natural
from pipeline.values import Candidate, Evidence, Reproduced

Rest = tuple[bool, int, Place]


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates and evidence in natural order; `witnesses` are the reproductions that count.

    `scores` are those of the soft vote, of every valid candidate: one whose patch applies, parses,
    is allowed and changes something. Who may not win may still vote.
    """

    candidates: Mapping[str, Candidate]
    evidence: Mapping[str, Evidence]
    witnesses: tuple[Reproduced, ...]
    gated: frozenset[str]
    clusters: tuple[tuple[str, ...], ...]
    lineages: Mapping[str, tuple[str, ...]]
    valid: tuple[str, ...] = field(init=False)
    scores: Mapping[str, float] = field(init=False)
    sizes: Counter[str] = field(init=False)

    def __post_init__(self) -> None:
        """Work out the scores, and the size of each group of one change, once."""
        valid = tuple(name for name, seen in self.evidence.items() if _is_valid(seen))
        edits = {name: self.evidence[name].edit for name in valid}
        scores = soft_scores(valid, lambda a, b: similarity(edits[a], edits[b]), self.lineages)
        object.__setattr__(self, "valid", valid)
        object.__setattr__(
            self, "scores", {name: round(score, 9) for name, score in scores.items()}
        )
        object.__setattr__(self, "sizes", Counter(self.evidence[name].key for name in valid))

    @property
    def open_clusters(self) -> list[tuple[str, ...]]:
        """Clusters of which somebody may win."""
        return [group for group in self.clusters if not self.gated.isdisjoint(group)]

    def cross_tests(self, name: str) -> int:
        """Counted reproductions of other authors that the candidate passes."""
        seen = self.evidence[name].reproductions
        return sum(
            seen.get(each.id) == "pass"
            for each in self.witnesses
            if each.reproduction.author != name
        )

    def rest(self, name: str) -> Rest:
        """What decides last: a synthesis, fewer changed lines, the lowest id."""
        lines = self.evidence[name].changed_lines
        return self.candidates[name].stage != "synthesis", lines, natural(name)

    def soft_rank(self, name: str) -> tuple[float, int, Rest]:
        """Sort key of one candidate under the soft vote, best first."""
        return -self.scores.get(name, 0.0), -self.cross_tests(name), self.rest(name)

    def rank_inside(self, name: str) -> tuple[int, int, Rest]:
        """Sort key of one candidate in its cluster, best first."""
        return -self.sizes[self.evidence[name].key], -self.cross_tests(name), self.rest(name)

    def cluster_rank(self, group: Sequence[str]) -> tuple[int, int, bool, int, Place]:
        """Sort key of a cluster, best first: votes and stages of all, the rest of gated members."""
        able = [name for name in group if name in self.gated]
        return (
            -len(group),
            -max(map(self.cross_tests, able)),
            all(self.candidates[name].stage != "synthesis" for name in group),
            min(self.evidence[name].changed_lines for name in able),
            min(map(natural, able)),
        )


def _is_valid(seen: Evidence) -> bool:
    return seen.policy.ok and seen.applies and seen.parses and bool(seen.key)
