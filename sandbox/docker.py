"""The container backend: environments are images, workspaces hardened containers."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sandbox.base import (
    Capabilities,
    Environment,
    EnvironmentPlan,
    Isolation,
    Language,
    Limits,
    Role,
    SetupShell,
    Source,
    Workspace,
)
from sandbox.engine.builder import EnvironmentBuilder
from sandbox.engine.channel import QuickRunner
from sandbox.engine.client import APIError, Engine
from sandbox.engine.containers import SETUP_NETWORK, Host, started, workspace_args
from sandbox.engine.declared import declared_image, require_allowed
from sandbox.engine.facts import Facts, is_gvisor, look
from sandbox.engine.images import base_image
from sandbox.engine.owner import remove_orphans
from sandbox.engine.runner import container_runner
from sandbox.engine.state import EnvironmentState
from sandbox.engine.store import Stored, list_stored, prune, remove_environments
from sandbox.engine.watch import DiskWatch
from sandbox.errors import EngineUnavailable, SandboxError
from sandbox.network.sockets import sweep_sockets
from sandbox.presence import Presence
from sandbox.workspace import ShellWorkspace

LANGUAGES: tuple[Language, ...] = ("python", "node", "go", "rust", "java", "ruby", "php")


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What the operator chose: PRISM_SANDBOX_IMAGE, …_IMAGES, …_RUNTIME, …_ALLOW_PTRACE.

    `image` is for all languages that `images` (by name, see `sandbox.engine.images`) leaves out,
    "" = this checkout's; `runtime` the engine's name of what runs containers, "" = its default.
    """

    image: str = ""
    images: Mapping[str, str] = field(default_factory=dict)
    runtime: str = ""
    allow_ptrace: bool = False


class DockerSandbox:
    """Implements `sandbox.base.Sandbox` on a Docker engine.

    `instance` labels everything that is created, so that orphans of the same worker are found
    again. `environ` is where installers' variables and the certificate bundle are looked up.
    `data_dir` is where locks and notes on environments are kept, which all
    workers of one machine must share (None = a folder of this user's). Close it when done.
    """

    def __init__(
        self,
        *,
        options: EngineOptions | None = None,
        limits: Limits | None = None,
        instance: str = "prism",
        environ: Mapping[str, str] = os.environ,
        data_dir: Path | None = None,
    ) -> None:
        self._options = options or EngineOptions()
        self._limits = limits or Limits()
        self._instance = instance
        self._engine = Engine()
        self._disk = DiskWatch(self._engine)
        self._facts: Facts | None = None
        self._state = EnvironmentState(data_dir / "environments" if data_dir else None)
        self._presence = Presence(self._state.folder, instance)
        self._builder = EnvironmentBuilder(
            engine=self._engine,
            limits=self._limits,
            instance=instance,
            environ=environ,
            base_image=self._base_image,
            host=self._host,
            open_workspace=self._workspace,
            disk=self._disk,
            state=self._state,
        )

    @property
    def isolation(self) -> Isolation:
        """Containers, on this machine's kernel or on gVisor's; by name until the engine said."""
        own = self._facts.has_own_kernel if self._facts else is_gvisor(self._options.runtime)
        return "user-space kernel" if own else "container"

    async def check_engine(self) -> str:
        """Describe the engine in one line, e.g. for a start-up message.

        Raises EngineUnavailable, with what to do, when there is no engine, no base image or
        not the runtime that was asked for.
        """
        facts = await self.facts()
        await self._base_image(None)
        return str(facts)

    async def facts(self) -> Facts:
        """What the engine is, asked once. Raises EngineUnavailable as `check_engine` does."""
        if self._facts is None:
            runtime, allow_ptrace = self._options.runtime, self._options.allow_ptrace
            self._facts = await self._engine.call(
                lambda c: look(c, runtime, self._instance, allow_ptrace)
            )
        return self._facts

    async def bare(self, plan: EnvironmentPlan) -> Environment:
        """An environment of the base image alone, without a repository: for probes."""
        return Environment(await self._base_image(plan), plan, None, None, 0.0, "")

    async def base_images(self) -> dict[str, str]:
        """Languages and, where their base image is missing, what to do about it ("" = there)."""
        found: dict[str, str] = {}
        for language in LANGUAGES:
            plan = EnvironmentPlan(language, (), "", "exit_code", "")
            try:
                await self._base_image(plan)
            except EngineUnavailable as error:
                found[language] = str(error)
            else:
                found[language] = ""
        return found

    async def capabilities(self) -> Capabilities:
        """What containers of this engine separate and limit, and what they do not."""
        facts = await self.facts()
        listed = SETUP_NETWORK == "none"
        return Capabilities(
            isolation=self.isolation,
            memory=True,
            processes=True,
            disk="engine" if facts.host.storage_quota else "watched",
            setup_network="allow-list" if listed else "open",
            unprotected=unprotected(facts, listed),
        )

    async def remove_orphans(self, *, alone: bool = False) -> int:
        """Remove this instance's containers and image drafts that nobody uses; returns how many.

        What this process or another living one works with is never touched. `alone` allows to
        remove what processes made that cannot be seen from here, if no other one is at work with
        this instance and data folder. Folders of sockets that nobody listens on go as well.
        """
        await asyncio.to_thread(sweep_sockets, self._builder.environ)

        def remove(client: Any) -> int:
            if not alone:
                return remove_orphans(client, self._instance)
            with self._presence.alone() as is_alone:
                return remove_orphans(client, self._instance, is_alone)

        try:
            return await self._engine.call(remove)
        except APIError as error:
            raise SandboxError(f"What is left over cannot be removed: {error}") from error

    async def remove_environments(self, repository: str) -> int:
        """Remove what this instance keeps of a repository (its Source key); returns how many."""
        return await self._engine.call(lambda c: remove_environments(c, self._instance, repository))

    async def forget_failures(self, repository: str) -> int:
        """Let set-ups of a repository that failed lately be tried again; returns how many."""
        return self._state.forget_failures(repository)

    async def stored(self) -> list[Stored]:
        """The stored environments of this instance, most recently used first."""
        return await self._engine.call(
            lambda c: list_stored(c, self._instance, self._state.last_used)
        )

    async def prune(self, max_gb: float, max_days: float) -> list[Stored]:
        """Remove stored environments by age and until they take `max_gb`; returns which.

        Longest unused first; nothing that has a container or was used within the last hour.
        """
        try:
            return await self._engine.call(
                lambda c: prune(c, self._instance, self._state, max_gb, max_days)
            )
        except APIError as error:
            raise SandboxError(f"Stored environments cannot be removed: {error}") from error

    async def prepare(self, source: Source, plan: EnvironmentPlan, run: str) -> Environment:
        """Build or reuse the environment of (repository, base commit, plan, base image).

        Costs one set-up container and two runs of the suite when not cached. Raises SetupFailed
        with the log's end when a set-up line fails; nothing is kept then.
        """
        self._presence.enter()
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
        self._presence.enter()
        return self._builder.setup_shell(source, plan, run)

    async def close(self) -> None:
        """Close the connection to the engine."""
        await self._engine.close()
        self._presence.leave()

    @asynccontextmanager
    async def _workspace(
        self, environment: Environment, role: Role, run: str
    ) -> AsyncIterator[ShellWorkspace]:
        labels = {"prism.instance": self._instance, "prism.role": role, "prism.run": run}
        self._presence.enter()
        self._state.used(environment.reference)
        args = workspace_args(environment.reference, self._limits, labels, await self._host())
        async with (
            started(self._engine, args) as name,
            self._disk.watching(name, self._limits) as watched,
        ):
            runner = await container_runner(self._engine, name, watched)
            sibling = partial(self._workspace, environment, role, run)
            with closing(QuickRunner(runner, runner.attach, runner.variables)) as quick:
                chosen = runner if role == "verify" else quick  # no verdict rests on a channel
                yield ShellWorkspace(chosen, environment.plan, self._limits, sibling)

    async def _base_image(self, plan: EnvironmentPlan | None) -> str:
        options, language = self._options, plan.language if plan else "unknown"
        if plan and plan.image:
            require_allowed(plan.image, {options.image, *options.images.values()})
            return await self._engine.call(lambda c: declared_image(c, plan.image))
        return await self._engine.call(
            lambda c: base_image(c, options.image, language, options.images)
        )

    async def _host(self) -> Host:
        return (await self.facts()).host


def unprotected(facts: Facts, listed: bool) -> tuple[str, ...]:
    """What these containers do not protect from."""
    found = [
        "a hole in gVisor's kernel that is used together with one in this machine's"
        if facts.has_own_kernel
        else "a hole in this machine's kernel, which containers share "
        "(PRISM_SANDBOX_RUNTIME=runsc, gVisor, puts a kernel of its own between)",
        "whoever takes over the worker: it has the engine, and with it this machine",
        "set-up lines that tell registries what they know, in the names they ask for"
        if listed
        else "set-up lines that use the engine's default network: the internet, and what this "
        "machine serves there",
        "neighbours on one processor that measure each other's timing or slow the disk",
    ]
    if facts.host.setup_runtime != facts.host.runtime:
        found.append(
            "a hole in this machine's kernel during set-up, which runs on the runtime "
            f"{facts.host.setup_runtime or 'of the engine'}: its way out needs the kernel's network"
        )
    if not facts.host.storage_quota:
        found.append("a burst of writing: disk use is looked at once a second")
    if facts.host.allow_ptrace:
        found.append("what debuggers reach of the kernel: ptrace is allowed")
    return tuple(found)
