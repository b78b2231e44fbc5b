"""Build environments: set up once in a container, test twice before any patch, keep the image.

Set-up runs on the engine's default bridge network, so repository code can reach what this
machine serves to its local network while it is being installed; after that there is no network.
"""

import asyncio
import io
import tarfile
import time
from collections import defaultdict
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
from sandbox.engine.containers import ROOT, Host, setup_args, started, workspace_args
from sandbox.engine.runner import PRIVATE, container_place, container_runner
from sandbox.environment.passthrough import certificate_bundle, installer_environment
from sandbox.environment.record import dump_environment, environment_key, load_environment
from sandbox.environment.version import scm_environment
from sandbox.errors import SandboxError
from sandbox.runner import Script
from sandbox.setup import Setup
from sandbox.setup_shell import open_shell

REPOSITORY = "prism-env"
_RECORD = f"{PRIVATE}/record.json"

OpenWorkspace = Callable[[Environment, Role, str], AbstractAsyncContextManager[Workspace]]


@dataclass
class EnvironmentBuilder:
    """Prepares environments on one engine; every environment is built once at a time.

    `base_image` names the image for a plan, `open_workspace` gives a fresh container of an
    environment for its base test runs; `environ` is where installers' variables and the
    certificate bundle are looked up.
    """

    engine: Engine
    limits: Limits
    instance: str
    environ: Mapping[str, str]
    base_image: Callable[[EnvironmentPlan], Awaitable[str]]
    host: Callable[[], Awaitable[Host]]
    open_workspace: OpenWorkspace
    _preparing: defaultdict[str, asyncio.Lock] = field(
        default_factory=lambda: defaultdict(asyncio.Lock)
    )

    async def prepare(self, source: Source, plan: EnvironmentPlan, run: str) -> Environment:
        """Build or reuse the environment of (repository, base commit, plan, base image).

        Costs one set-up container and two runs of the suite when not cached. Raises SetupFailed
        with the log's end when a set-up line fails; nothing is kept then.
        """
        base = await self.base_image(plan)
        variables = await scm_environment(source)
        key = environment_key(source, plan, base, variables)
        async with self._preparing[key]:
            found = await self._find(key)
            if found is not None:
                return found
            return await self._build(source, plan, run, base, key)

    @asynccontextmanager
    async def setup_shell(
        self, source: Source, plan: EnvironmentPlan, run: str
    ) -> AsyncIterator[SetupShell]:
        """A set-up container with the tree in it and none of the plan's lines run."""
        base = await self.base_image(plan)
        async with self._setup(source, base, run) as (_, setup):
            yield await open_shell(setup, source, plan)

    @asynccontextmanager
    async def _setup(
        self, source: Source, image: str, run: str
    ) -> AsyncIterator[tuple[str, Setup]]:
        """A fresh set-up container by name, and the set-up to be carried out in it."""
        args = setup_args(image, self.limits, self._labels(run), await self.host())
        async with started(self.engine, args) as name:
            yield (
                name,
                Setup(
                    place=container_place(await container_runner(self.engine, name)),
                    limits=self.limits,
                    installers={
                        **installer_environment(self.environ),
                        **await scm_environment(source),
                    },
                    bundle=certificate_bundle(self.environ),
                ),
            )

    async def _build(
        self, source: Source, plan: EnvironmentPlan, run: str, base: str, key: str
    ) -> Environment:
        labels = {
            "prism.role": "environment",
            "prism.recipe": "",  # not the base image any more
            "prism.repository": source.repository,
            "prism.base": source.base_commit,
            "prism.key": key,
        }
        start = time.monotonic()
        async with self._setup(source, base, run) as (name, setup):
            await setup.carry_out(source, plan)
            draft = await self._commit(name, labels)
        try:
            environment = Environment(
                reference=draft,
                plan=plan,
                baseline=None,
                baseline_again=None,
                setup_s=time.monotonic() - start,
                log=setup.log_text,
            )
            return await self._record(environment, labels, run, key)
        finally:
            await self.engine.call(lambda c: remove_image(c, draft))

    async def _record(
        self, environment: Environment, labels: Mapping[str, str], run: str, key: str
    ) -> Environment:
        """Run the suite twice before any patch and store what it said inside the image."""
        if environment.plan.test:
            first, second = await asyncio.gather(
                self._base_run(environment, run), self._base_run(environment, run)
            )
            environment = replace(environment, baseline=first, baseline_again=second)
        args = workspace_args(
            environment.reference, self.limits, self._labels(run), await self.host()
        )
        async with started(self.engine, {**args, "user": ROOT}) as name:
            runner = await container_runner(self.engine, name)
            stored = await runner.as_root(
                Script(f"cat > {_RECORD}", stdin=dump_environment(environment))
            )
            if stored.exit_code != 0:
                raise SandboxError("The environment's record could not be stored.")
            reference = await self._commit(name, labels, key)
        return replace(environment, reference=reference)

    async def _base_run(self, environment: Environment, run: str) -> TestRun:
        async with self.open_workspace(environment, "verify", run) as workspace:
            return await workspace.test()

    async def _commit(self, name: str, labels: Mapping[str, str], tag: str = "") -> str:
        def commit(client: Any) -> str:
            where = {"repository": REPOSITORY, "tag": tag} if tag else {}
            return str(client.api.commit(name, conf={"Labels": dict(labels)}, **where)["Id"])

        try:
            return await self.engine.call(commit)
        except APIError as error:
            raise SandboxError(f"The environment could not be stored: {error}") from error

    async def _find(self, key: str) -> Environment | None:
        """The stored environment of a key; one of an older version counts as missing."""
        try:
            image, data = await self.engine.call(lambda c: _read_record(c, key))
            return load_environment(data, image)
        except (ImageNotFound, NotFound, ValueError):
            return None

    def _labels(self, run: str) -> dict[str, str]:
        return {"prism.instance": self.instance, "prism.role": "setup", "prism.run": run}


def _read_record(client: Any, key: str) -> tuple[str, bytes]:
    """Image id and record, from a container that is created and never started."""
    image = client.images.get(f"{REPOSITORY}:{key}")
    container = client.containers.create(image.id, ["true"], network_mode="none")
    try:
        chunks, _ = container.get_archive(_RECORD)
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as tar:
            member = tar.next()
            file = tar.extractfile(member) if member is not None and member.isreg() else None
            return str(image.id), file.read() if file else b""
    finally:
        container.remove(force=True, v=True)


def remove_image(client: Any, image: str) -> None:
    """Remove a draft; one that a recorded environment builds on stays and goes with it."""
    try:
        client.api.remove_image(image)
    except APIError as error:
        if error.status_code not in {404, 409}:
            raise
