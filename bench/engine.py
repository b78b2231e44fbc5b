"""What the engine's own command line does, as the other side of each comparison."""

import asyncio
import secrets
from collections.abc import Sequence

LABEL = "prism.bench"


async def docker(*arguments: str, stdin: bytes | None = None) -> str:
    """Run the engine's client and return what it printed; raises RuntimeError when it fails."""
    process = await asyncio.create_subprocess_exec(
        "docker",
        *arguments,
        stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error = await process.communicate(stdin)
    if process.returncode != 0:
        raise RuntimeError(f"docker {arguments[0]}: {error.decode(errors='replace').strip()}")
    return out.decode()


async def run_detached(image: str, *arguments: str, command: Sequence[str] = ()) -> str:
    """Start a container that stays; returns its name."""
    name = f"prism-bench-{secrets.token_hex(6)}"
    keep = command or ("sleep", "infinity")
    await docker("run", "-d", "--name", name, "--label", LABEL, *arguments, image, *keep)
    return name


async def remove(names: Sequence[str]) -> None:
    """Remove containers of this bench."""
    if names:
        await docker("rm", "-f", "-v", *names)
