"""A plan, and what is stored of it, as text for a terminal.

Everything that comes from the repository is shown without the characters that could command the
terminal.
"""

import time
from collections.abc import Iterable, Iterator, Sequence

from app.messages.characters import without_invisible
from pipeline.environment.trial import missing_tests
from sandbox.base import Environment, EnvironmentPlan
from sandbox.engine.store import Stored
from sandbox.network.allow import admitted, hosts_for
from sandbox.network.registries import Registries

WIDTH = 12
_GB = 1e9


def plan_text(
    plan: EnvironmentPlan,
    *,
    repository: str,
    commit: str,
    image: str,
    untested: bool,
    setup_hosts: str,
    own: Registries,
    cache: Sequence[str],
) -> str:
    """The whole plan, one part after the other.

    `own` are the operator's registries, `cache` lines on what is stored.
    """
    environ = {"PRISM_SETUP_HOSTS": setup_hosts}
    rows: list[tuple[str, list[str]]] = [
        ("repository", [f"{repository} at {commit[:12]}"]),
        ("language", [plan.language]),
        ("taken from", [plan.origin]),
        ("image", [image]),
        ("packages", [" ".join(plan.packages) or "–"]),
        ("variables", [f"{name}={value}" for name, value in plan.variables] or ["–"]),
        ("directory", [plan.directory or "the repository's root"]),
        ("set-up", _numbered(plan.setup) or ["– (nothing to install)"]),
        ("hosts", list(_hosts(plan, environ, own))),
        ("test", [plan.test or "– (no test command found)"]),
        ("results", [_results(plan)] if plan.test else ["–"]),
        ("not used", list(plan.notes) or ["–"]),
        ("if it fails", [_FAILS[untested]]),
        ("stored", list(cache)),
    ]
    return "\n".join(_row(name, lines) for name, lines in rows)


_FAILS = {
    True: "runs go on without tests (env.untested)",
    False: "the run ends and says why (env.untested: true would let it go on without tests)",
}


def environment_text(environment: Environment, seconds: float) -> str:
    """What became of a set-up that worked: how long, which tests, and why none can speak."""
    how = "found in the store" if environment.cached else f"set up in {environment.setup_s:.0f} s"
    ready = [f"{how}, {seconds:.0f} s in all"]
    if environment.built_on:
        ready.append(f"on what commit {environment.built_on} installed with the same inputs")
    rows = [("ready", ready), ("tests", list(_tests(environment)))]
    trouble = missing_tests(environment)
    if trouble is not None:
        rows.append(("beware", [trouble.summary, "No test can speak for a change."]))
    return "\n".join(_row(name, lines) for name, lines in rows)


def stored_lines(stored: Iterable[Stored]) -> list[str]:
    """One line for each stored environment: size, age, and what its base tests did."""
    now = time.time()
    return [
        f"{size(item.bytes)}, made {age(now - item.created)} ago, used {age(now - item.used)} ago"
        + _what(item)
        for item in stored
    ]


def _what(item: Stored) -> str:
    if item.kind == "dependencies":
        return ", what the set-up installed, shared by commits"
    on = f", on what commit {item.built_on[:10]} installed" if item.built_on else ""
    return on + (f", base tests: {item.tests} pass" if item.tests else ", without tests")


def size(count: float) -> str:
    """Bytes for people."""
    if count >= _GB:
        return f"{count / _GB:.1f} GB"
    if count >= 1e6:
        return f"{count / 1e6:.0f} MB"
    return f"{count / 1e3:.0f} kB" if count >= 1e3 else f"{count:.0f} bytes"


def age(seconds: float) -> str:
    """A span of time for people."""
    for unit, length in (("days", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length or unit == "min":
            return f"{max(0.0, seconds) / length:.0f} {unit}"
    return ""


def clean(text: str) -> str:
    """Text of a repository without what could command the terminal; line ends stay."""
    return without_invisible(text)[0]


def _tests(environment: Environment) -> Iterator[str]:
    run = environment.baseline
    if run is None:
        yield "– (no test command)"
        return
    failing = sorted(run.with_status("fail") | run.with_status("error"))
    passing = environment.stable_passes
    unstable = len(run.with_status("pass")) - len(passing)
    yield f"{len(passing)} pass, {len(failing)} fail, {run.duration_s:.0f} s"
    if unstable > 0:
        yield f"{unstable} passed once and failed once: they are not counted"
    yield from (f"fails before any change: {test}" for test in failing[:10])
    if len(failing) > 10:
        yield f"… and {len(failing) - 10} more"


def _hosts(plan: EnvironmentPlan, environ: dict[str, str], own: Registries) -> Iterator[str]:
    yield " ".join(hosts_for(plan, environ)) or "–"
    if own.hosts:
        yield f"your own registries: {' '.join(own.hosts)}"
    yield from own.notes
    refused = [host for host in plan.hosts if not admitted(host, environ)]
    if refused:
        yield f"asked for, not admitted by PRISM_SETUP_HOSTS: {' '.join(refused)}"


def _results(plan: EnvironmentPlan) -> str:
    if plan.runner == "exit_code":
        return "one for the whole suite, by the exit code"
    return f"one for each test, from the report of {plan.runner}"


def _numbered(lines: Sequence[str]) -> list[str]:
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def _row(name: str, entries: Sequence[str]) -> str:
    lines = [line for entry in entries for line in clean(entry).splitlines() or [""]]
    first, *rest = lines or [""]
    return "\n".join([f"{name:<{WIDTH}}{first}", *(" " * WIDTH + line for line in rest)])
