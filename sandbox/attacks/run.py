"""Try attacks in real workspaces and say how each ended."""

import asyncio
import time
from collections.abc import Collection
from contextlib import AsyncExitStack
from secrets import token_hex

from sandbox.attacks.base import (
    ATTACK_LIMITS,
    GROUPS,
    Attack,
    AttackResult,
    Finding,
    Scene,
    Verdict,
    first_line,
)
from sandbox.attacks.source import PLAN, TinySource
from sandbox.attacks.table import ATTACKS
from sandbox.base import Environment, Limits, Sandbox
from sandbox.errors import SandboxError

# As many workspaces at once: enough to use the time attacks wait for a limit.
_AT_ONCE = 2


async def run_attacks(
    sandbox: Sandbox,
    environment: Environment | None = None,
    groups: Collection[str] = GROUPS,
    *,
    limits: Limits = ATTACK_LIMITS,
    slow: bool = True,
) -> tuple[AttackResult, ...]:
    """Try the attacks of `groups` and return their results in the table's order.

    `sandbox` must have been made with `limits`; small ones (ATTACK_LIMITS) keep this under a
    minute. Without an environment a tiny repository is prepared first. `slow=False` leaves out
    what takes more than about three seconds.
    """
    run = f"attacks-{token_hex(4)}"
    if environment is None:
        environment = await sandbox.prepare(TinySource(), PLAN, run)
    chosen = [a for a in ATTACKS if a.group in groups and (slow or not a.slow)]
    stage = _Stage(sandbox, environment, limits, run)
    shared = [attack for attack in chosen if not attack.alone]
    done = await asyncio.gather(
        stage.together(shared), *(stage.alone(attack) for attack in chosen if attack.alone)
    )
    by_id = {result.id: result for results in done for result in results}
    return tuple(by_id[attack.id] for attack in chosen)


class _Stage:
    """Opens workspaces, a few at once."""

    def __init__(
        self, sandbox: Sandbox, environment: Environment, limits: Limits, run: str
    ) -> None:
        self._sandbox = sandbox
        self._environment = environment
        self._limits = limits
        self._run = run
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def together(self, attacks: list[Attack]) -> list[AttackResult]:
        """One after the other in one workspace; in a new one when that was lost."""
        results: list[AttackResult] = []
        while len(results) < len(attacks):
            async with self._places, AsyncExitStack() as stack:
                scene = await self._scene(stack)
                for attack in attacks[len(results) :]:
                    results.append(await _try(attack, scene))
                    if results[-1].observed.startswith(_BROKE):
                        break
        return results

    async def alone(self, attack: Attack) -> list[AttackResult]:
        """In a workspace of its own."""
        async with self._places, AsyncExitStack() as stack:
            return [await _try(attack, await self._scene(stack))]

    async def _scene(self, stack: AsyncExitStack) -> Scene:
        opened = self._sandbox.workspace(self._environment, "candidate", self._run)
        workspace = await stack.enter_async_context(opened)
        return Scene(self._sandbox, self._environment, self._limits, self._run, workspace)


_BROKE = "the workspace failed: "


async def _try(attack: Attack, scene: Scene) -> AttackResult:
    start = time.monotonic()
    try:
        finding = await attack.probe(scene)
    except SandboxError as error:
        finding = Finding(False, _BROKE + first_line(str(error)))
    except (ValueError, IndexError) as error:  # an answer that is none: a tool is missing
        finding = Finding(False, f"no usable answer: {first_line(str(error))}")
    return AttackResult(
        id=attack.id,
        group=attack.group,
        title=attack.title,
        held_by=attack.held_by,
        verdict=_verdict(attack, finding),
        observed=finding.observed,
        seconds=time.monotonic() - start,
    )


def _verdict(attack: Attack, finding: Finding) -> Verdict:
    if finding.held:
        return "held"
    expected = attack.limit and not finding.observed.startswith(_BROKE)
    return "limit" if expected else "not held"
