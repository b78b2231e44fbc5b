"""Finding what should not be there: variables, credentials, names of the machine."""

import asyncio
import re

from sandbox.attacks.base import Attack, Finding, Scene, first_line
from sandbox.base import Command

# What every command gets, and what bash adds.
_KNOWN = frozenset(
    ("PATH", "HOME", "LANG", "CI", "PYTHONDONTWRITEBYTECODE", "PRISM_COMMAND", "VIRTUAL_ENV",
     "HOSTNAME", "PWD", "OLDPWD", "SHLVL", "_")
)  # fmt: skip
_TELLING = re.compile(r"TOKEN|SECRET|PASSW|KEY|CREDENTIAL|PRIVATE|DOCKER|REDIS", re.IGNORECASE)


async def _environment(scene: Scene) -> Finding:
    result = await scene.shell("env -0 | tr '\\0' '\\n' | cut -d= -f1 | sort")
    plan = {name for name, _ in scene.environment.plan.variables}
    names = set(result.output.split()) - plan
    held = not names - _KNOWN and not any(_TELLING.search(name) for name in names)
    extra = ", ".join(sorted(names - _KNOWN))
    return Finding(held, f"unexpected: {extra}" if extra else f"{len(names)} names, all known")


async def _credentials(scene: Scene) -> Finding:
    line = (
        "cd ~ && ls -d .netrc .git-credentials .npmrc .pypirc .docker .ssh .aws .config/pip "
        ".cargo/credentials* .m2/settings.xml /root/.ssh /opt/prism/ca.pem 2>/dev/null; "
        "find / -xdev \\( -name id_rsa -o -name id_ed25519 -o -name '*.kdbx' \\) 2>/dev/null; true"
    )
    found = await scene.shell(line)
    return Finding(not found.output.strip(), first_line(found.output) or "none found")


async def _other_commands(scene: Scene) -> Finding:
    secret = Command("sleep 3", env={"CANARY": "in-the-open"}, timeout_s=20)
    other = asyncio.create_task(scene.workspace.exec(secret))
    await asyncio.sleep(1.0)
    seen = await scene.shell("cat /proc/[0-9]*/environ 2>/dev/null | grep -ac in-the-open; true")
    await other
    count = seen.output.strip()
    return Finding(count == "0", f"seen in {count} processes of the same user")


async def _keeper(scene: Scene) -> Finding:
    line = "for p in $(pgrep -u 10002); do head -c 9 /proc/$p/environ && echo READ; done; true"
    result = await scene.shell(line)
    return Finding("READ" not in result.output, first_line(result.output) or "nothing to read")


async def _host_paths(scene: Scene) -> Finding:
    result = await scene.shell("grep -o 'upperdir=[^,]*' /proc/mounts | head -1")
    path = result.output.strip()
    return Finding(not path, f"shown: {path[:40]}…" if path else "not shown")


async def _inherited_files(scene: Scene) -> Finding:
    """CVE-2024-21626: a folder of the host left open in the process that starts a command."""
    line = (
        "for f in /proc/self/fd/*; do readlink $f; done | grep -vE '^(pipe:|/dev/null|/proc/)'; "
        "for n in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "
        "ls /proc/self/fd/$n/../../../.. >/dev/null 2>&1 && echo fd $n; done; true"
    )
    result = await scene.shell(line)
    return Finding(not result.output.strip(), first_line(result.output) or "only its own pipes")


SECRETS = (
    Attack(
        "environment", "secrets", "secrets in a command's variables",
        "commands get a short fixed list", _environment,
    ),
    Attack(
        "credentials", "secrets", "credentials of package managers, keys, host certificates",
        "given to single commands of the set-up, taken out before the image is kept", _credentials,
    ),
    Attack("keeper", "secrets", "variables of the container's process", "another user id", _keeper),
    Attack(
        "inherited-files", "secrets", "open files of the engine (CVE-2024-21626)",
        "patched runc; the working folder is never the model's choice", _inherited_files,
    ),
    Attack(
        "other-commands", "secrets", "variables of another command in the same workspace",
        "nothing: processes of one user read each other, so no command of a workspace is given a "
        "secret", _other_commands, alone=True, limit=True,
    ),
    Attack(
        "host-paths", "secrets", "names of the engine's folders in /proc/mounts",
        "nothing: the kernel shows them; they open nothing", _host_paths, limit=True,
    ),
)  # fmt: skip
