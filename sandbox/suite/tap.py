"""tape: TAP on standard output, read assertion by assertion."""

import re
import shlex

from sandbox.suite.report import ReportInvalid, Results

_POINT = re.compile(r"(?P<not>not )?ok\b(?: (?P<number>\d+))?(?: -)?(?P<name>.*)")
_PLAN = re.compile(r"1\.\.(?P<count>[0-9]{1,9})(?:\s|$)")
_SKIPPED = re.compile(r"(?:^|\s)#\s*(?:skip|todo)\b.*", re.IGNORECASE)


def tape_line(test: str, targets: tuple[str, ...], report: str) -> str:
    """The line with its output in `report`: all of `test`, or the files among the targets."""
    line = f"npx --no-install tape {' '.join(map(shlex.quote, targets))}" if targets else test
    return f"{{ {line} ; }} > {shlex.quote(report)}"


def parse_tap(data: bytes) -> Results:
    """TAP 13 as tape writes it; ids are `test > assertion`, lines that are not TAP are left out.

    An assertion that occurs more than once in a test gets a number (`#2`). One that is skipped, or
    expected to fail, is "skip". Raises ReportInvalid without a plan (`1..n`) or when there are
    more or fewer assertions than planned: what was not reported is missing, not passed.
    """
    results, seen = Results(), dict[str, int]()
    test, points, planned = "", 0, None
    for line in data.decode(errors="replace").splitlines():
        if line.startswith("# "):
            test = line[2:].strip()
        elif plan := _PLAN.match(line):
            planned = int(plan["count"])
        elif point := _POINT.match(line):
            points += 1
            title, skipped = _SKIPPED.subn("", point["name"])
            name = f"{test} > {title.strip()}"
            seen[name] = seen.get(name, 0) + 1
            name += f" #{seen[name]}" if seen[name] > 1 else ""
            results.put(name, "skip" if skipped else "fail" if point["not"] else "pass")
    if planned is None or points != planned:
        raise ReportInvalid("fewer or more assertions than planned")
    return results
