"""Build environments: set up once in a container, test twice before any patch, keep the image.

Two levels of images. What a set-up installed is kept per hash of its inputs; on top of it comes,
per base commit, the tree, what a second run of the set-up lines makes of it, and the record of
the base test runs. A commit with the same inputs starts from the former.

Set-up reaches package registries through a proxy on this machine and nothing else; after that
there is no network at all.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from sandbox.base import (
    Environment,
    EnvironmentPlan,
    Limits,
    Role,
    SetupShell,
    Source,
    TestRun,
    Workspace,
)
from sandbox.engine.client import APIError, Engine, ImageNotFound, NotFound
from sandbox.engine.containers import KEEPER, Host, setup_args, started
from sandbox.engine.owner import OWNER, this_process
from sandbox.engine.recorded import read_record, write_record
from sandbox.engine.runner import container_place, container_runner
from sandbox.engine.state import EnvironmentState, is_network
from sandbox.engine.store import (
    BASE,
    BUILT_ON,
    DEPENDENCIES,
    INSTANCE,
    REPOSITORY,
    ROLE,
    remove_image,
)
from sandbox.engine.watch import DiskWatch
from sandbox.environment.inputs import inputs, without_repeats
from sandbox.environment.record import (
    dependencies_key,
    dump_environment,
    environment_key,
    load_environment,
)
from sandbox.environment.version import scm_environment
from sandbox.errors import EngineUnavailable, SandboxError, SetupFailed
from sandbox.network.egress import Outside, egress_for, outside
from sandbox.setup import Setup
from sandbox.setup_shell import open_shell

_RENEWABLE = "prism.renewable"
_LOG = logging.getLogger(__name__)

OpenWorkspace = Callable[[Environment, Role, str], AbstractAsyncContextManager[Workspace]]


@dataclass(frozen=True, slots=True)
class _Job:
    """One environment to be made. `base` is the image below everything."""

    source: Source
    plan: EnvironmentPlan
    run: str
    base: str
    key: str
    dependencies: str

    def labels(self, role: str, key: str) -> dict[str, str]:
        """Labels of an image; those of the base image and of the container are written over."""
        return {
            ROLE: role,
            "prism.recipe": "",
            "prism.run": "",
            "prism.repository": self.source.repository,
            BASE: self.source.base_commit,
            "prism.key": key,
        }


@dataclass
class EnvironmentBuilder:
    """Prepares environments on one engine; every environment is built once at a time.

    `base_image` names the image for a plan, `open_workspace` gives a fresh container of an
    environment for its base test runs; `environ` is where installers' variables and the
    certificate bundle are looked up; `disk` ends set-ups that fill the engine's; `state` is
    shared by all processes on this machine.
    """

    engine: Engine
    limits: Limits
    instance: str
    environ: Mapping[str, str]
    base_image: Callable[[EnvironmentPlan], Awaitable[str]]
    host: Callable[[], Awaitable[Host]]
    open_workspace: OpenWorkspace
    disk: DiskWatch
    state: EnvironmentState = field(default_factory=EnvironmentState)
    outside: Outside = field(init=False)

    def __post_init__(self) -> None:
        self.outside = outside(self.environ)

    async def prepare(self, source: Source, plan: EnvironmentPlan, run: str) -> Environment:
        """Build or reuse the environment of (repository, base commit, plan, base image).

        Costs one set-up container and two runs of the suite when not cached; the set-up only
        adds what is missing when another commit had the same inputs. Raises SetupFailed with the
        log's end when a set-up line fails, and again for an hour without trying (a minute when
        the network seems to be why); nothing else is kept then.
        """
        job = await self._job(source, plan, run)
        found = await self._find(job.key)
        if found is not None:
            return found
        async with self.state.alone(job.key):
            found = await self._find(job.key)
            if found is not None:
                return found
            failure = self.state.failure(source.repository, job.key)
            if failure is not None:
                raise failure
            try:
                return await self._build(job)
            except SetupFailed as error:
                self.state.remember_failure(source.repository, job.key, error)
                raise

    @asynccontextmanager
    async def setup_shell(
        self, source: Source, plan: EnvironmentPlan, run: str
    ) -> AsyncIterator[SetupShell]:
        """A set-up container with the tree in it and none of the plan's lines run."""
        base = await self.base_image(plan)
        async with self._setup(source, plan, base, run) as (_, setup):
            yield await open_shell(setup, source, plan)

    async def _job(self, source: Source, plan: EnvironmentPlan, run: str) -> _Job:
        base = await self.base_image(plan)
        variables = await scm_environment(source)
        counted = await inputs(source, plan)
        return _Job(
            source=source,
            plan=plan,
            run=run,
            base=base,
            key=environment_key(source, plan, base, variables, self.instance),
            dependencies=dependencies_key(source, plan, base, variables, counted, self.instance),
        )

    async def _build(self, job: _Job) -> Environment:
        """From what another commit with the same inputs left, else from the base image."""
        async with self.state.alone(job.dependencies):
            below, renewable, origin = await self._dependencies(job)
            draft = None if renewable else await self._set_up(job, renewable=not below)
        if draft is None:
            renewed = await self._renew(job, below, origin)
            if renewed is not None:
                return renewed
            draft = await self._set_up(job, renewable=False)
        return await self._record(await self._tested(draft, job.run), job)

    async def _dependencies(self, job: _Job) -> tuple[str, bool, str]:
        """The image of the first level ("" without one), may one build on it, whose it is."""
        name = f"{DEPENDENCIES}:{job.dependencies}"

        def inspect(client: Any) -> dict[str, Any]:
            return dict(client.api.inspect_image(name))

        try:
            image = await self.engine.call(inspect)
        except (ImageNotFound, NotFound):
            return "", False, ""
        labels = image["Config"]["Labels"]
        return str(image["Id"]), labels.get(_RENEWABLE) != "no", labels.get(BASE, "")

    async def _set_up(self, job: _Job, *, renewable: bool) -> Environment:
        """Everything from scratch; what comes out is kept for other commits too."""
        start = time.monotonic()
        labels = job.labels("dependencies", job.dependencies)
        labels[_RENEWABLE] = "yes" if renewable else "no"
        async with self._setup(job.source, job.plan, job.base, job.run) as (name, setup):
            await setup.carry_out(job.source, job.plan)
            image = await self._commit(name, labels, DEPENDENCIES, job.dependencies)
        return _untested(image, job, start, setup)

    async def _renew(self, job: _Job, below: str, origin: str) -> Environment | None:
        """From another commit's set-up; None when that does not lead to a working environment.

        Then the set-up may not bear being run twice, or it left behind what disturbs.
        """
        start = time.monotonic()
        plan = await without_repeats(job.source, job.plan)
        labels = {**job.labels("environment", job.key), OWNER: this_process()}
        draft = ""
        try:
            async with self._setup(job.source, job.plan, below, job.run, renewing=True) as (
                name,
                setup,
            ):
                await setup.carry_out(job.source, plan)
                draft = await self._commit(name, labels)
            made = replace(_untested(draft, job, start, setup), built_on=origin)
            environment = await self._tested(made, job.run)
            if not job.plan.test or environment.stable_passes:
                return await self._record(environment, job)
            _LOG.info("no test passes on an environment built on another commit's; from scratch")
        except EngineUnavailable:
            raise
        except SandboxError as error:
            if isinstance(error, SetupFailed) and is_network(error):
                raise
            _LOG.info("an environment cannot be built on another commit's; from scratch: %s", error)
        finally:
            if draft:
                await self.engine.call(lambda c: remove_image(c, draft))
        return None

    async def _tested(self, environment: Environment, run: str) -> Environment:
        """With two runs of the suite before any patch, side by side, if there is a suite."""
        if not environment.plan.test:
            return environment
        first, second = await asyncio.gather(
            self._base_run(environment, run), self._base_run(environment, run)
        )
        return replace(environment, baseline=first, baseline_again=second)

    async def _base_run(self, environment: Environment, run: str) -> TestRun:
        async with self.open_workspace(environment, "verify", run) as workspace:
            return await workspace.test()

    async def _record(self, environment: Environment, job: _Job) -> Environment:
        """Store what is known about an environment inside its image, which gets its name."""
        labels = {**job.labels("environment", job.key), OWNER: "", BUILT_ON: environment.built_on}
        if environment.baseline is not None:
            count = len(environment.baseline.results)
            labels["prism.tests"] = f"{len(environment.stable_passes)}/{count}"
        commit = _commit_arguments(labels, REPOSITORY, job.key)
        data = dump_environment(environment)
        mine = self._labels(job.run)
        try:
            image = await self.engine.call(
                lambda c: write_record(c, environment.reference, data, mine, commit)
            )
        except APIError as error:
            raise SandboxError(f"The environment's record could not be stored: {error}") from error
        self.state.used(image)
        return replace(environment, reference=image)

    async def _find(self, key: str) -> Environment | None:
        """The stored environment of a key; one of an older version counts as missing."""
        mine = self._labels("")

        def read(client: Any) -> tuple[str, bytes]:
            image = str(client.api.inspect_image(f"{REPOSITORY}:{key}")["Id"])
            return image, read_record(client, image, mine)

        try:
            image, data = await self.engine.call(read)
            found = load_environment(data, image)
        except (ImageNotFound, NotFound, ValueError):
            return None
        self.state.used(image)
        return found

    @asynccontextmanager
    async def _setup(
        self,
        source: Source,
        plan: EnvironmentPlan,
        image: str,
        run: str,
        *,
        renewing: bool = False,
    ) -> AsyncIterator[tuple[str, Setup]]:
        """A fresh set-up container by name with its way out, and the set-up to carry out in it."""
        labels = self._labels(run)
        args = setup_args(image, self.limits, labels, await self.host())
        twice = replace(self.limits, disk_mb=self.limits.disk_mb * 2, files=self.limits.files * 2)
        async with (
            started(self.engine, args) as name,
            self.disk.watching(name, twice) as watched,
            egress_for(
                self.engine,
                name,
                plan,
                # No image that a repository named or its code could have changed.
                image=await self.base_image(replace(plan, image="")),
                labels=labels,
                outside=self.outside,
                environ=self.environ,
            ) as way,
        ):
            yield (
                name,
                Setup(
                    place=container_place(await container_runner(self.engine, name, watched)),
                    limits=self.limits,
                    installers=await scm_environment(source),
                    egress=way,
                    renewing=renewing,
                ),
            )

    async def _commit(
        self, name: str, labels: Mapping[str, str], repository: str = "", tag: str = ""
    ) -> str:
        commit = _commit_arguments({OWNER: "", **labels}, repository, tag)
        try:
            return await self.engine.call(lambda c: str(c.api.commit(name, **commit)["Id"]))
        except APIError as error:
            raise SandboxError(f"The environment could not be stored: {error}") from error

    def _labels(self, run: str) -> dict[str, str]:
        return {INSTANCE: self.instance, ROLE: "setup", "prism.run": run}


def _untested(image: str, job: _Job, start: float, setup: Setup) -> Environment:
    return Environment(
        reference=image,
        plan=job.plan,
        baseline=None,
        baseline_again=None,
        setup_s=time.monotonic() - start,
        log=setup.log_text,
    )


def _commit_arguments(labels: Mapping[str, str], repository: str, tag: str) -> dict[str, Any]:
    """What a commit changes: else it keeps user and labels of the container."""
    named = {"repository": repository, "tag": tag} if tag else {}
    return {"conf": {"Labels": dict(labels)}, "changes": [f"USER {KEEPER}"], **named}
