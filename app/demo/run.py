"""`prism demo`: label an issue, watch the run, read the pull request."""

import asyncio
import json
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.live import Live

from app.demo import screen
from app.demo.hub import ISSUE
from app.demo.processes import DemoFailed, Processes
from app.demo.report import Seen, as_json, look
from app.demo.stack import Stack, start_stack
from app.services import engine_problem
from app.settings import Settings, SettingsError, read_settings

RUN_TIMEOUT_S = 900.0


def run_demo(*, once: bool, json_file: Path | None, live: bool, work: Path | None) -> int:
    """Run the demo; returns 0 with exactly one draft pull request, 1 otherwise.

    Uses containers when an engine and its base image are there, else plain processes (never with
    the real model). Leaves the pages up until Ctrl-C unless `once`.
    """
    console = Console()
    started = time.monotonic()
    settings = read_settings()
    _require_new(json_file, work)
    problem = asyncio.run(engine_problem(settings))
    if live:
        _check_live(settings, problem)
    with ExitStack() as stack:
        folder = work or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="prism-")))
        processes = stack.enter_context(Processes(folder / "logs"))
        try:
            sandbox = "process" if problem else "docker"
            running = start_stack(processes, folder, sandbox, settings if live else None)
            if problem:
                console.print(f"[dim]{problem}[/]")
            isolation = "none" if problem else "container"
            screen.welcome(console, running.hub.issue_url, isolation, scripted=not live)
            seen = asyncio.run(_watch(console, processes, running))
            return _show(console, running, seen, time.monotonic() - started, json_file, once, live)
        except DemoFailed as failure:
            console.print(f"[red]{failure}")
            return 1
        except KeyboardInterrupt:
            return 0


def _require_new(json_file: Path | None, work: Path | None) -> None:
    if work is not None and work.exists() and (not work.is_dir() or any(work.iterdir())):
        raise SettingsError(f"--work: {work} must be a new or an empty folder.")
    if json_file is not None and not json_file.absolute().parent.is_dir():
        raise SettingsError(f"--json: {json_file} cannot be written: its folder must be there.")


def _check_live(settings: Settings, problem: str) -> None:
    if not settings.anthropic_api_key:
        raise SettingsError("LIVE=1 uses the real model: set ANTHROPIC_API_KEY.")
    if problem:
        raise SettingsError(f"The real model needs isolation. {problem}")


async def _watch(console: Console, processes: Processes, running: Stack) -> Seen:
    """Label the issue, then show the run until it has ended."""
    hub, started = running.hub, time.monotonic()
    repository_id = hub.repository_id()
    hub.add_label(running.settings.label)
    database, installation = running.settings.database, int(hub.facts["installation_id"])
    with Live(console=console, refresh_per_second=8, transient=False) as display:
        while (elapsed := time.monotonic() - started) < RUN_TIMEOUT_S:
            processes.check()
            seen = await look(database, installation, repository_id, ISSUE)
            display.update(screen.progress(seen, elapsed))
            if seen is not None and not seen.run.is_active:
                return seen
            await asyncio.sleep(0.3)
    raise DemoFailed(f"The run did not end within {RUN_TIMEOUT_S:.0f} s.")


def _show(
    console: Console,
    running: Stack,
    seen: Seen,
    wall_s: float,
    json_file: Path | None,
    once: bool,
    live: bool,
) -> int:
    pulls = running.hub.pull_requests()
    if len(pulls) != 1 or seen.decision is None:
        comments = running.hub.comments()
        said = comments[-1]["body"] if comments else "(no comment)"
        raise DemoFailed(
            f"Expected one pull request, found {len(pulls)}. Run {seen.run.id} ended as "
            f"{seen.run.state}: {seen.run.outcome}\nThe last comment on the issue:\n{said}"
        )
    screen.pull_request(console, pulls[0], seen.decision.patch)
    if json_file is not None:
        result = as_json(seen, pulls[0], wall_s, scripted=not live)
        json_file.write_text(json.dumps(result, indent=2, ensure_ascii=False), encoding="utf-8")
    if not once:
        console.print("The pages stay up until Ctrl-C.")
        while True:
            time.sleep(1)
    return 0
