"""`prism env show | build | list | prune`: look at environments, make them, remove them."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from app.environment import view
from app.environment.source import repository
from app.failures import advice
from app.services import Backend, open_backend, setup_environ
from app.settings import Settings, SettingsError
from pipeline.environment.pin import pinned
from pipeline.environment.trial import missing_tests
from sandbox.base import Environment, EnvironmentPlan, Source
from sandbox.docker import DockerSandbox
from sandbox.engine.declared import require_allowed
from sandbox.engine.images import image_name, parse_images
from sandbox.engine.store import Stored
from sandbox.environment.config import read_config
from sandbox.environment.plan import make_plan
from sandbox.errors import EngineUnavailable, NotAllowed, SandboxError, SetupFailed
from sandbox.network.allow import ecosystems
from sandbox.network.registries import operator_registries

SETUP_FAILED, NO_TESTS = 1, 3
LOG_LINES = 60


async def show(settings: Settings, named: str, commit: str, *, as_yaml: bool) -> int:
    """Print how a repository is set up and tested, or the `.github/prism.yml` that pins it.

    Nothing of the repository is executed.
    """
    async with repository(settings, named, commit) as source:
        plan = await make_plan(source)
        if as_yaml:
            Console().out(pinned(plan), end="", highlight=False)
            return 0
        config = await read_config(source)
        own = await operator_registries(ecosystems(plan), setup_environ(settings), {})
        text = view.plan_text(
            plan,
            repository=named,
            commit=source.base_commit,
            image=_image(settings, plan),
            untested=config.untested,
            setup_hosts=settings.setup_hosts,
            own=own,
            cache=await _cache(settings, source),
        )
    Console().out(text, highlight=False)
    return 0


async def build(settings: Settings, named: str, commit: str) -> int:
    """Prepare a repository's environment now; returns 0, 1 when the set-up fails, 3 without tests.

    What failed lately is tried again.
    """
    screen = Console(stderr=True)
    async with repository(settings, named, commit) as source, _backend(settings) as backend:
        plan = await make_plan(source)
        screen.out(f"{view.clean(plan.origin)}: {len(plan.setup)} set-up lines", highlight=False)
        await backend.forget_failures(source.repository)
        start = time.monotonic()
        try:
            environment = await _with_progress(screen, backend, source, plan)
        except SetupFailed as error:
            _print_failure(screen, error)
            return SETUP_FAILED
    Console().out(view.environment_text(environment, time.monotonic() - start), highlight=False)
    return NO_TESTS if missing_tests(environment) else 0


async def list_stored(settings: Settings) -> int:
    """Print what is stored, most recently used first."""
    async with _engine(settings) as sandbox:
        stored = await sandbox.stored()
    console = Console()
    for item in stored:
        (line,) = view.stored_lines([item])
        console.out(f"{item.key[:12]}  {_name(item)}  {line}", highlight=False)
    console.out(_total(stored), highlight=False)
    return 0


async def prune(settings: Settings, max_gb: float | None, max_days: float | None) -> int:
    """Remove what was not used for long, and more until the rest fits; None = as in settings."""
    most = settings.env_max_gb if max_gb is None else max_gb
    longest = settings.env_max_days if max_days is None else max_days
    async with _engine(settings) as sandbox:
        gone = await sandbox.prune(most, longest)
        left = await sandbox.stored()
    console = Console()
    for item in gone:
        console.out(f"removed {item.key[:12]}  {_name(item)}", highlight=False)
    console.out(f"{len(gone)} removed; left: {_total(left)}", highlight=False)
    return 0


async def _with_progress(
    screen: Console, backend: Backend, source: Source, plan: EnvironmentPlan
) -> Environment:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        progress.add_task("set-up, then two runs of the tests")
        return await backend.prepare(source, plan, "env-build")


def _print_failure(screen: Console, error: SetupFailed) -> None:
    lines = view.clean(error.log).strip().splitlines()[-LOG_LINES:]
    screen.out("The end of the set-up's output:", highlight=False)
    screen.out("\n".join(lines) + "\n", highlight=False)
    screen.out(f"Error: {view.clean(str(error))}", highlight=False)
    for step in advice(error.denied):
        screen.out(f"- {step}", highlight=False)


def _image(settings: Settings, plan: EnvironmentPlan) -> str:
    if settings.sandbox == "process":
        return "none: plain processes on this machine"
    images = parse_images(settings.sandbox_images)
    if plan.image:
        try:
            require_allowed(plan.image, {settings.sandbox_image, *images.values()})
        except NotAllowed as error:
            return f"{plan.image}: not admitted, so a run ends there. {error}"
        return f"{plan.image}, which the repository asks for"
    name = image_name(plan.language)
    return images.get(name) or settings.sandbox_image or f"prism-{name} of this checkout"


async def _cache(settings: Settings, source: Source) -> Sequence[str]:
    """What is stored of this commit; a plan can be shown without an engine."""
    if settings.sandbox == "process":
        return ["below the data folder (PRISM_SANDBOX=process)"]
    try:
        async with _engine(settings) as sandbox:
            stored = await sandbox.stored()
    except (EngineUnavailable, SandboxError) as error:
        return [f"not known: {error}"]
    mine = [item for item in stored if item.repository == source.repository]
    here = [item for item in mine if item.commit == source.base_commit]
    lines = [f"this commit: {line}" for line in view.stored_lines(here)]
    if len(mine) > len(here):
        lines.append(f"other commits and their parts: {_total([i for i in mine if i not in here])}")
    return lines or ["nothing yet: the first run or `prism env build` prepares it"]


def _name(item: Stored) -> str:
    kind = "" if item.kind == "environment" else f" ({item.kind})"
    return view.clean(f"{item.repository}@{item.commit[:10]}{kind}")


def _total(stored: Sequence[Stored]) -> str:
    layers: dict[str, int] = {}
    for item in stored:
        layers.update(item.layers)
    return f"{len(stored)} stored, {view.size(sum(layers.values()))} together"


@asynccontextmanager
async def _backend(settings: Settings) -> AsyncIterator[Backend]:
    backend = open_backend(settings)
    try:
        yield backend
    finally:
        await backend.close()


@asynccontextmanager
async def _engine(settings: Settings) -> AsyncIterator[DockerSandbox]:
    async with _backend(settings) as backend:
        if not isinstance(backend, DockerSandbox):
            folder = Path(settings.data_dir) / "sandbox"
            raise SettingsError(
                f"With PRISM_SANDBOX=process environments are folders below {folder}; remove them "
                "by hand while nothing runs."
            )
        yield backend
