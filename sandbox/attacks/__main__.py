"""`python -m sandbox.attacks [--markdown|--json] [--quick] [GROUP…]`: try them on this engine."""

import argparse
import asyncio
import os
import sys

from rich.console import Console

from sandbox.attacks.base import ATTACK_LIMITS, GROUPS, AttackResult
from sandbox.attacks.render import as_json, as_markdown, as_table, summary
from sandbox.attacks.run import run_attacks
from sandbox.docker import DockerSandbox, EngineOptions
from sandbox.errors import SandboxError


async def _run(groups: list[str], runtime: str, *, slow: bool) -> tuple[AttackResult, ...]:
    sandbox = DockerSandbox(
        limits=ATTACK_LIMITS,
        instance=f"prism-attacks-{os.getpid()}",
        options=EngineOptions(runtime=runtime),
    )
    try:
        chosen = [group for group in GROUPS if not groups or group in groups]
        return await run_attacks(sandbox, groups=chosen, slow=slow)
    finally:
        await sandbox.remove_orphans()
        await sandbox.close()


def main() -> int:
    """Print the table; 1 when something was not held, 2 without an engine."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.attacks", description=__doc__)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], help="all when none is named")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="leave out the slow ones")
    parser.add_argument("--runtime", default="", help="e.g. runsc; empty: the engine's own")
    options = parser.parse_args()
    try:
        results = asyncio.run(_run(options.groups, options.runtime, slow=not options.quick))
    except SandboxError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if options.json:
        sys.stdout.write(as_json(results))
    elif options.markdown:
        sys.stdout.write(as_markdown(results))
    else:
        Console().print(as_table(results))
    sys.stderr.write(summary(results) + "\n")
    return 1 if any(result.verdict == "not held" for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
