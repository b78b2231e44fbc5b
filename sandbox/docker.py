"""The container backend: environments are images, workspaces hardened containers.

Set-up runs on the engine's default bridge network, so repository code can reach what this
machine serves to its local network while it is being installed; after that there is no network.
"""

import asyncio
import io
import os
import tarfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

from sandbox.base import (
    Environment,
    EnvironmentPlan,
    Isolation,
    Limits,
    Role,
    Source,
    TestRun,
    Workspace,
)
from sandbox.container_runner import PRIVATE, container_place, container_runner
from sandbox.containers import ROOT, setup_args, started, workspace_args
from sandbox.engine import APIError, Engine, ImageNotFound, NotFound
from sandbox.environment.image import base_image
from sandbox.environment.passthrough import certificate_bundle, installer_environment
from sandbox.environment.record import dump_environment, environment_key, load_environment
from sandbox.environment.version import scm_environment
from sandbox.errors import SandboxError
from sandbox.runner import Script
from sandbox.setup import Setup
from sandbox.workspace import ShellWorkspace

REPOSITORY = "prism-env"
_RECORD = f"{PRIVATE}/record.json"


class DockerSandbox:
    """Implements `sandbox.base.Sandbox` on a Docker engine.

    `image` is PRISM_SANDBOX_IMAGE ("" = the base image of this checkout); `instance` labels
    everything that is created, so that orphans of the same worker are found again. `environ`
    is where installers' variables and the certificate bundle are looked up. Close it when done.
    """

    def __init__(
        self,
        *,
        image: str = "",
        limits: Limits | None = None,
        instance: str = "prism",
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._image = image
        self._limits = limits or Limits()
        self._instance = instance
        self._environ = environ
        self._engine = Engine()
        self._preparing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._private_cgroup: bool | None = None

    @property
    def isolation(self) -> Isolation:
        """Containers: no network, no capabilities, own user ids, the host's kernel."""
        return "container"

    async def check_engine(self) -> str:
        """Describe the engine in one line, e.g. for a start-up message.

        Raises EngineUnavailable, with what to do, when there is no engine or no base image.
        """
        info: dict[str, Any] = await self._engine.call(lambda c: dict(c.info()))
        await self._base_image()
        return (
            f"Docker Engine {info.get('ServerVersion', '?')} "
            f"({info.get('Driver', '?')}, cgroup v{info.get('CgroupVersion', '1')})"
        )

    async def remove_orphans(self) -> int:
        """Remove every container of this instance; returns how many. Call before any work."""

        def remove(client: Any) -> int:
            label = f"prism.instance={self._instance}"
            found = client.api.containers(all=True, filters={"label": label})
            for container in found:
                try:
                    client.api.remove_container(container["Id"], force=True, v=True)
                except (NotFound, APIError):
                    continue  # gone or going
            return len(found)

        return await self._engine.call(remove)

    async def remove_environments(self, repository: str) -> int:
        """Remove the stored environments of a repository (its Source key); returns how many."""

        def remove(client: Any) -> int:
            labels = ["prism.role=environment", f"prism.repository={repository}"]
            tagged = client.api.images(name=REPOSITORY, filters={"label": labels})
            for image in tagged:
                _remove_image(client, image["Id"])
            return len(tagged)

        return await self._engine.call(remove)

    async def prepare(self, source: Source, plan: EnvironmentPlan, run: str) -> Environment:
        """Build or reuse the environment of (repository, base commit, plan, base image).

        Costs one set-up container and two runs of the suite when not cached. Raises SetupFailed
        with the log's end when a set-up line fails; nothing is kept then.
        """
        base = await self._base_image()
        variables = await scm_environment(source)
        key = environment_key(source, plan, base, variables)
        async with self._preparing[key]:
            found = await self._find(key)
            if found is not None:
                return found
            return await self._build(source, plan, run, base, key)

    def workspace(
        self, environment: Environment, role: Role, run: str
    ) -> AbstractAsyncContextManager[Workspace]:
        """A fresh container of the environment; leaving the context removes it."""
        return self._workspace(environment, role, run)

    async def close(self) -> None:
        """Close the connection to the engine."""
        await self._engine.close()

    @asynccontextmanager
    async def _workspace(
        self, environment: Environment, role: Role, run: str
    ) -> AsyncIterator[Workspace]:
        args = workspace_args(
            environment.reference,
            self._limits,
            self._labels(role, run),
            await self._has_private_cgroup(),
        )
        async with started(self._engine, args) as name:
            runner = await container_runner(self._engine, name)
            yield ShellWorkspace(runner, environment.plan, self._limits)

    async def _build(
        self, source: Source, plan: EnvironmentPlan, run: str, base: str, key: str
    ) -> Environment:
        start = time.monotonic()
        labels = {
            "prism.role": "environment",
            "prism.recipe": "",  # not the base image any more
            "prism.repository": source.repository,
            "prism.base": source.base_commit,
            "prism.key": key,
        }
        args = setup_args(
            base, self._limits, self._labels("setup", run), await self._has_private_cgroup()
        )
        async with started(self._engine, args) as name:
            setup = Setup(
                place=container_place(await container_runner(self._engine, name)),
                limits=self._limits,
                installers={
                    **installer_environment(self._environ),
                    **await scm_environment(source),
                },
                bundle=certificate_bundle(self._environ),
            )
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
            await self._engine.call(lambda c: _remove_image(c, draft))

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
            environment.reference, self._limits, self._labels("setup", run), private_cgroup=False
        )
        async with started(self._engine, {**args, "user": ROOT}) as name:
            runner = await container_runner(self._engine, name)
            stored = await runner.as_root(
                Script(f"cat > {_RECORD}", stdin=dump_environment(environment))
            )
            if stored.exit_code != 0:
                raise SandboxError("The environment's record could not be stored.")
            reference = await self._commit(name, labels, key)
        return replace(environment, reference=reference)

    async def _base_run(self, environment: Environment, run: str) -> TestRun:
        async with self._workspace(environment, "verify", run) as workspace:
            return await workspace.test()

    async def _commit(self, name: str, labels: Mapping[str, str], tag: str = "") -> str:
        def commit(client: Any) -> str:
            where = {"repository": REPOSITORY, "tag": tag} if tag else {}
            return str(client.api.commit(name, conf={"Labels": dict(labels)}, **where)["Id"])

        try:
            return await self._engine.call(commit)
        except APIError as error:
            raise SandboxError(f"The environment could not be stored: {error}") from error

    async def _find(self, key: str) -> Environment | None:
        """The stored environment of a key; one of an older version counts as missing."""
        try:
            image, data = await self._engine.call(lambda c: _read_record(c, key))
            return load_environment(data, image)
        except (ImageNotFound, NotFound, ValueError):
            return None

    async def _base_image(self) -> str:
        return await self._engine.call(lambda c: base_image(c, self._image))

    async def _has_private_cgroup(self) -> bool:
        if self._private_cgroup is None:
            info: dict[str, Any] = await self._engine.call(lambda c: dict(c.info()))
            self._private_cgroup = info.get("CgroupVersion") == "2"
        return self._private_cgroup

    def _labels(self, role: str, run: str) -> dict[str, str]:
        return {"prism.instance": self._instance, "prism.role": role, "prism.run": run}


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


def _remove_image(client: Any, image: str) -> None:
    """Remove a draft; one that a recorded environment builds on stays and goes with it."""
    try:
        client.api.remove_image(image)
    except APIError as error:
        if error.status_code not in {404, 409}:
            raise
