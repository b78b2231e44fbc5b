"""Who may win: the gate before the vote. Pure. Source: method.md §2.3.7 rule 1.

How the rule is read here:

* A candidate must apply, parse, be allowed by the patch policy, use no new name that nothing
  defines, and change something that is not comment or layout.
* It must lose no test of the base: the suite gave a verdict on it, and every test that passed
  twice on the base (minus the named exclusions) passed again. A repository without a suite asks
  for nothing here, unless the settings require tests.
* A validated reproduction is *counted* when a candidate other than its author passes it. What
  only its author passes, or nobody, says nothing about the others. Whether that other candidate
  may itself win does not matter: it is a second opinion on the test, not on the patch.
* A candidate must pass as many counted reproductions as the best of the whole pool, at least one,
  and must not have failed any counted one (fail, error and time-out are failing; missing is not a
  failure, but never a pass either).
* Only when the pool has no validated reproduction at all is that clause dropped. Validated but
  not counted ones keep it: then nobody passes one, nobody may win, and the run abstains, because
  the only witness of each patch is its own author.
"""

from collections.abc import Iterable, Mapping, Sequence

from pipeline.choose.order import natural
from pipeline.values import Candidate, Evidence, Gate, Reproduced


def counted(
    evidence: Mapping[str, Evidence], reproductions: Iterable[Reproduced]
) -> tuple[Reproduced, ...]:
    """Validated reproductions that somebody other than the author passes, sorted by id."""
    return tuple(
        each
        for each in sorted(reproductions, key=lambda each: each.id)
        if any(
            seen.reproductions.get(each.id) == "pass"
            for name, seen in evidence.items()
            if name != each.reproduction.author
        )
    )


def gate(
    candidates: Sequence[Candidate],
    evidence: Mapping[str, Evidence],
    reproductions: Sequence[Reproduced],
    *,
    has_suite: bool,
    require_tests: bool = False,
) -> tuple[Gate, ...]:
    """One Gate for each candidate in natural order, with every reason why it may not win.

    `has_suite` tells whether any test passed twice on the base. A candidate without evidence
    never passes.
    """
    known = {each.id: evidence[each.id] for each in candidates if each.id in evidence}
    witnesses = counted(known, reproductions)
    best = max((_passes(seen, witnesses) for seen in known.values()), default=0)
    gates = []
    for name in sorted({each.id for each in candidates}, key=natural):
        if name not in known:
            gates.append(Gate(name, ("It was not verified.",)))
            continue
        reasons = _static(known[name]) or [
            *_regression(known[name], has_suite, require_tests),
            *_reproduced(known[name], witnesses, best, bool(reproductions)),
            *_left_out(known[name]),
        ]
        gates.append(Gate(name, tuple(reasons)))
    return tuple(gates)


def _static(seen: Evidence) -> list[str]:
    reasons = [f"The patch policy refuses it: {reason}" for reason in seen.policy.refused]
    if reasons:
        return reasons
    if not seen.applies:
        return ["It does not apply to the base commit."]
    if not seen.parses:
        reasons.append("A file it changes does not parse any more.")
    if seen.undefined:
        reasons.append(f"It uses what nothing defines: {', '.join(seen.undefined[:3])}.")
    if not seen.key:
        reasons.append("It changes nothing but comments or layout.")
    return reasons


def _regression(seen: Evidence, has_suite: bool, require_tests: bool) -> list[str]:
    if not has_suite:
        if require_tests:
            return ["There is no test suite to hold it against, and the settings ask for one."]
        return []
    if not seen.regression_ran:
        return [] if seen.skipped else [seen.note or "The test suite gave no verdict on it."]
    if seen.lost:
        return [f"It breaks {_tests(len(seen.lost))}, first {seen.lost[0]}."]
    return []


def _left_out(seen: Evidence) -> list[str]:
    """What was not run on it never counts as passed."""
    if seen.regression_ran or not seen.skipped:
        return []
    return [f"The test suite was not run on it: {seen.skipped}."]


def _reproduced(
    seen: Evidence, witnesses: Sequence[Reproduced], best: int, any_validated: bool
) -> list[str]:
    if not any_validated:
        return []
    if not witnesses:
        return ["No reproduction is passed by anybody but its author."]
    reasons = []
    failed = [
        _named(each)
        for each in witnesses
        if seen.reproductions.get(each.id, "missing") not in ("pass", "missing")
    ]
    if failed:
        reasons.append(f"It fails {_reproductions(len(failed))} of the bug: {', '.join(failed)}.")
    passes = _passes(seen, witnesses)
    if passes == 0:
        reasons.append("It passes no reproduction of the bug that counts.")
    elif passes < best and not failed:
        reasons.append(f"It passes {passes} of {best} reproductions that others pass.")
    return reasons


def _passes(seen: Evidence, reproductions: Iterable[Reproduced]) -> int:
    return sum(seen.reproductions.get(each.id) == "pass" for each in reproductions)


def _tests(count: int) -> str:
    return "a test that passed before" if count == 1 else f"{count} tests that passed before"


def _reproductions(count: int) -> str:
    return "a reproduction" if count == 1 else f"{count} reproductions"


def _named(reproduced: Reproduced) -> str:
    """The test a reader finds in the table, and who wrote it."""
    test = (reproduced.tests or (reproduced.reproduction.path,))[0].rpartition("::")[2]
    more = f" and {len(reproduced.tests) - 1} more" if len(reproduced.tests) > 1 else ""
    return f"{test}{more} (by {reproduced.reproduction.author})"
