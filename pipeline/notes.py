"""An environment in words: for the status, the pull request and the agents."""

from sandbox.base import Environment


def environment_note(environment: Environment) -> str:
    """One line about the set-up and the suite before any change."""
    setup = "cached" if environment.cached else f"{environment.setup_s:.0f} s"
    if environment.built_on:
        setup += f", on what commit {environment.built_on[:10]} installed"
    return f"{environment.plan.origin}, {setup}; {baseline_note(environment)}"


def baseline_note(environment: Environment) -> str:
    """What the suite did before any change."""
    if environment.baseline is None:
        return "no test command found"
    if environment.baseline.timed_out:
        seconds = environment.baseline.duration_s
        return f"the test suite did not end in {seconds:.0f} s before any change"
    if not environment.baseline.results:
        why = f" ({environment.baseline.why})" if environment.baseline.why else ""
        return f"the test suite gave no verdict before any change{why}"
    passing = environment.stable_passes
    unsure = len(environment.baseline.with_status("pass") - passing)
    also = f", {unsure} pass at times and do not count" if unsure else ""
    part = _part_note(environment) if environment.targets else ""
    failing = environment.baseline.with_status("fail") | environment.baseline.with_status("error")
    return (
        f"{part}{len(passing)} tests pass, {len(failing)} fail{also} before any change "
        f"(`{environment.plan.test}`, {environment.baseline.duration_s:.0f} s)"
    )


def _part_note(environment: Environment) -> str:
    count = sum(map(len, environment.targets))
    files = f"{count} test files" if count > 1 else "one test file"
    return f"all tests do not end in time; in the {files} nearest to the issue "


def about_repository(environment: Environment) -> str:
    """What agents are told: language, test command, and what the suite did before any change."""
    plan = environment.plan
    command = f"Tests are run by `{plan.test}`." if plan.test else "No test command was found."
    parts = " Run single test files, never all." if environment.targets else ""
    note = baseline_note(environment)
    return f"Language: {plan.language}. {command} Before any change: {note}.{parts}"
