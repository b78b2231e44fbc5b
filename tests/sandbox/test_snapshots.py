"""Forks and snapshots of containers: apart from each other, and out of repository code's reach."""

import pytest

from sandbox.base import Command, Workspace
from sandbox.docker import DockerSandbox
from sandbox.errors import NotAllowed

pytestmark = pytest.mark.engine


async def mine(docker: DockerSandbox) -> list[str]:
    """The running containers of this sandbox's workspaces."""
    labels = {"label": [f"prism.instance={docker._instance}", "prism.role=candidate"]}
    found = await docker._engine.call(lambda c: c.api.containers(filters=labels))
    return [container["Id"] for container in found]


async def test_fork_is_a_container_of_its_own(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same path, no processes and nothing from outside the tree; a large snapshot is refused."""
    await workspace.exec(
        Command("echo x > /tmp/x; echo x > ~/x; setsid sleep 54321 >/dev/null 2>&1 &")
    )
    async with workspace.fork() as child:
        assert child.path == workspace.path
        left = "ls /tmp/x ~/x 2>/dev/null; ps -u 10001 -o args= | grep '[s]leep 54321'"
        assert (await child.exec(Command(left))).output == ""
    monkeypatch.setattr("sandbox.workspace.PACK_LIMIT", 2_000_000)
    await workspace.exec(Command("head -c 3000000 /dev/urandom > large"))
    with pytest.raises(NotAllowed, match="larger than 2 MB"):
        async with workspace.fork():
            pass


UNDERMINE = """
cd /opt/prism/snapshots
rm -rf git; mv git gone; chmod -R 777 .; touch git/index.lock git/own/index.lock git/refs/prism/x
git --git-dir=git update-ref -d refs/prism/base
for r in git/refs/prism/*; do echo 0 > $r; done; echo > git/own/index; echo > git/config
find git/objects -type f -exec sh -c 'echo > "$1"' _ {} \\;
ps -u 10003 -o pid= | xargs -r kill -9; kill -9 -1
"""


async def test_snapshots_are_out_of_reach(workspace: Workspace) -> None:
    """Repository code cannot change, move or delete a snapshot, and not run what reads it."""
    await workspace.write("notes.txt", "one")
    first = await workspace.snapshot()
    evil = "echo 'touch /opt/prism/snapshots/git/own/taken' > /tmp/evil; chmod +x /tmp/evil"
    nested = (
        "mkdir sub; cd sub; git init -q; git -c user.name=a -c user.email=a@localhost commit -q"
        " --allow-empty -m 1; git config core.fsmonitor /tmp/evil; cd .."
    )
    attributes = "echo '* filter=evil' > .gitattributes; git config filter.evil.clean /tmp/evil"
    assert (await workspace.exec(Command(f"{evil}; {nested}; {attributes}"))).ok
    for _ in range(2):  # the nested repository is known to the index from the second time on
        await workspace.snapshot()
    assert "Subproject commit" in await workspace.diff()
    await workspace.exec(Command(UNDERMINE))
    assert (await workspace.exec(Command("ls /opt/prism/snapshots/git/own"))).output == "index\n"
    await workspace.restore(first)
    assert await workspace.read("notes.txt") == "one"
    assert (await workspace.exec(Command("test ! -e .gitattributes.x && ls"))).output.count(
        "sub"
    ) == 0


async def test_snapshots_survive_a_restart(docker: DockerSandbox, workspace: Workspace) -> None:
    """Ending everything the hard way loses no snapshot."""
    await workspace.write("notes.txt", "one")
    first = await workspace.snapshot()
    (container,) = await mine(docker)
    await docker._engine.call(lambda c: c.api.restart(container, timeout=0))
    await workspace.write("notes.txt", "two")
    await workspace.restore(first)
    assert await workspace.read("notes.txt") == "one"
