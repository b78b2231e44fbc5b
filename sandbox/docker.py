"""The container backend: environments are images, workspaces hardened containers."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from sandbox.base import (
    Environment,
    EnvironmentPlan,
    Isolation,
    Limits,
    Role,
    SetupShell,
    Source,
    Workspace,
)
from sandbox.engine.builder import REPOSITORY, EnvironmentBuilder, remove_image
from sandbox.engine.client import APIError, Engine, NotFound
from sandbox.engine.containers import Host, started, workspace_args
from sandbox.engine.images import base_image
from sandbox.engine.runner import container_runner
from sandbox.workspace import ShellWorkspace


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
        self._engine = Engine()
        self._known_host: Host | None = None
        self._builder = EnvironmentBuilder(
            engine=self._engine,
            limits=self._limits,
            instance=instance,
            environ=environ,
            base_image=self._base_image,
            host=self._host,
            open_workspace=self._workspace,
        )

    @property
    def isolation(self) -> Isolation:
        """Containers: no network, no capabilities, own user ids, the host's kernel."""
        return "container"

    async def check_engine(self) -> str:
        """Describe the engine in one line, e.g. for a start-up message.

        Raises EngineUnavailable, with what to do, when there is no engine or no base image.
        """
        info: dict[str, Any] = await self._engine.call(lambda c: dict(c.info()))
        await self._base_image(None)
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
                remove_image(client, image["Id"])
            return len(tagged)

        return await self._engine.call(remove)

    async def prepare(self, source: Source, plan: EnvironmentPlan, run: str) -> Environment:
        """Build or reuse the environment of (repository, base commit, plan, base image).

        Costs one set-up container and two runs of the suite when not cached. Raises SetupFailed
        with the log's end when a set-up line fails; nothing is kept then.
        """
        return await self._builder.prepare(source, plan, run)

    def workspace(
        self, environment: Environment, role: Role, run: str
    ) -> AbstractAsyncContextManager[Workspace]:
        """A fresh container of the environment; leaving the context removes it."""
        return self._workspace(environment, role, run)

    def setup_shell(
        self, source: Source, plan: EnvironmentPlan, run: str
    ) -> AbstractAsyncContextManager[SetupShell]:
        """A set-up container to try commands in; leaving the context removes it."""
        return self._builder.setup_shell(source, plan, run)

    async def close(self) -> None:
        """Close the connection to the engine."""
        await self._engine.close()

    @asynccontextmanager
    async def _workspace(
        self, environment: Environment, role: Role, run: str
    ) -> AsyncIterator[Workspace]:
        labels = {"prism.instance": self._instance, "prism.role": role, "prism.run": run}
        args = workspace_args(environment.reference, self._limits, labels, await self._host())
        async with started(self._engine, args) as name:
            runner = await container_runner(self._engine, name)
            yield ShellWorkspace(runner, environment.plan, self._limits)

    async def _base_image(self, plan: EnvironmentPlan | None) -> str:
        return await self._engine.call(lambda c: base_image(c, self._image))

    async def _host(self) -> Host:
        if self._known_host is None:
            info: dict[str, Any] = await self._engine.call(lambda c: dict(c.info()))
            self._known_host = Host(private_cgroup=info.get("CgroupVersion") == "2")
        return self._known_host
