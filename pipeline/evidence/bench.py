"""What every candidate of a pool is held against, and the fresh copies in which that happens."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from pipeline.evidence.reproductions import OpenWorkspace
from pipeline.evidence.runs import contradicts
from pipeline.values import Reproduced
from sandbox.base import Environment, Source, TestRun, Workspace
from sandbox.errors import EngineUnavailable, SandboxError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bench:
    """The base, its tests, and the pool's validated reproductions; `excluded` are test ids."""

    source: Source
    environment: Environment
    open_workspace: OpenWorkspace
    reproductions: tuple[Reproduced, ...] = ()
    excluded: tuple[str, ...] = ()

    @property
    def wanted(self) -> frozenset[str]:
        """T_final: passes on the base twice, minus the named exclusions."""
        return self.environment.stable_passes - set(self.excluded)

    @property
    def batches(self) -> tuple[tuple[str, ...], ...]:
        """What the runner is given to run the suite, one call each; () in it stands for all."""
        return self.environment.targets or ((),)


async def in_fresh_copies(
    patch: str, bench: Bench, work: Callable[[Workspace, str], Awaitable[T | str]]
) -> T | str:
    """What `work` finds in a fresh workspace with the patch; a second one when that fails.

    `work` gets the workspace and the snapshot to go back to; where there is no verdict it returns
    the reason in words. So does this when there is none in the second workspace either. An empty
    patch is the base.
    """
    reason = ""
    for _ in range(2):
        try:
            async with bench.open_workspace() as workspace:
                if patch:
                    applied = await workspace.apply(patch)
                    if not applied.ok:
                        return f"git does not apply it: {applied.output.strip()[:300]}"
                found = await work(workspace, await workspace.snapshot())
        except EngineUnavailable:
            raise
        except SandboxError as error:
            reason = f"The workspace could not be used any more: {error}"
            continue
        if not isinstance(found, str):
            return found
        reason = found
    return reason


def is_forged(run: TestRun, baseline: TestRun | None) -> bool:
    """Whether report and exit code disagree although they agreed on the base."""
    return contradicts(run) and not (baseline is not None and contradicts(baseline))
