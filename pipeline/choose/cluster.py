"""Which candidates stand together: the same change, or the same behaviour in the same place. Pure.

Source: method.md §2.3.7 rules 2 and 3. Exact groups are patches of one key. Where cross tests split
the pool, groups with the same results and common definitions are one cluster; where none does,
those that change exactly the same definitions: a vote on the location.
"""

from collections.abc import Mapping, Sequence

from pipeline.choose.order import natural
from pipeline.values import Candidate, CheckStatus, Evidence, Reproduced

Groups = tuple[tuple[str, ...], ...]


def exact_groups(candidates: Sequence[Candidate], evidence: Mapping[str, Evidence]) -> Groups:
    """Ids of candidates with the same key, each group and the groups in natural order.

    A candidate without a key (no patch, refused, does not apply) stands alone.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for name in sorted({each.id for each in candidates}, key=natural):
        same = evidence[name].key if name in evidence else ""
        groups.setdefault((same, "" if same else name), []).append(name)
    return tuple(tuple(group) for group in groups.values())


def cluster(
    candidates: Sequence[Candidate],
    evidence: Mapping[str, Evidence],
    counted: Sequence[Reproduced] = (),
) -> Groups:
    """Exact groups, merged where behaviour and place are the same; in natural order.

    `counted` are the reproductions that somebody other than their author passes. A missing
    result, or definitions that are not known, never merge.
    """
    groups = exact_groups(candidates, evidence)
    tests = splitting(evidence, counted)
    merged: list[tuple[list[str], set[str], tuple[CheckStatus, ...]]] = []
    for group in groups:
        places = {place for name in group for place in _symbols(evidence.get(name))}
        signature = _signature(evidence.get(group[0]), tests)
        fits = [
            each
            for each in merged
            if places
            and signature == each[2]
            and "missing" not in signature
            and (places & each[1] if tests else places == each[1])
        ]
        members = [*group, *(name for each in fits for name in each[0])]
        merged = [each for each in merged if not any(each is other for other in fits)]
        merged.append((members, places.union(*(each[1] for each in fits)), signature))
    ordered = (tuple(sorted(members, key=natural)) for members, _, _ in merged)
    return tuple(sorted(ordered, key=lambda group: natural(group[0])))


def splitting(evidence: Mapping[str, Evidence], counted: Sequence[Reproduced]) -> tuple[str, ...]:
    """Ids of the reproductions that some candidates pass and others do not."""
    found = []
    for each in counted:
        seen = {one.reproductions.get(each.id, "missing") for one in evidence.values()}
        if len(seen - {"missing"}) > 1:
            found.append(each.id)
    return tuple(sorted(found))


def _symbols(seen: Evidence | None) -> tuple[str, ...]:
    return seen.edit.symbols if seen is not None else ()


def _signature(seen: Evidence | None, tests: Sequence[str]) -> tuple[CheckStatus, ...]:
    results = {} if seen is None else seen.reproductions
    return tuple(results.get(name, "missing") for name in tests)
