"""Having the harness's git run something, or having a patch show something else than the tree.

Each attack plants a script that leaves a canary on whatever machine runs it. The tree is then
looked at by every way the harness has; the canary must be absent here, and in the container
wherever the harness's git must not have run it either.
"""

import asyncio
from pathlib import Path
from secrets import token_hex

from sandbox.attacks.base import Attack, Finding, Probe, Scene

_EVIL = """
mkdir -p /tmp/evil-{token}
cat > /tmp/evil-{token}/run <<'X'
#!/bin/sh
touch {canary} {canary}-$(id -u)
cat
X
chmod -R 777 /tmp/evil-{token}
evil=/tmp/evil-{token}/run
"""


def _planted(plant: str, control: str = "", *, own_code_runs: bool = False) -> Probe:
    """Plant, add one file, look at the tree in all the harness's ways.

    `control` are plain git commands that must run the planted script, or the attack is none.
    `own_code_runs`: the script may run inside, as a user without any rights.
    """

    async def probe(scene: Scene) -> Finding:
        token = token_hex(4)
        canary = Path(f"/tmp/prism-canary-{token}")  # noqa: S108 - looked for, never made here
        workspace = scene.workspace
        await scene.shell(_EVIL.format(token=token, canary=canary) + plant)
        armed = await scene.shell(f"{control}; ls {canary}* && rm -f {canary}*")
        if control and not armed.ok:
            return Finding(False, "the attack itself does not work with this git")
        await workspace.write("planted.txt", f"{token}\n")
        snapshot = await workspace.snapshot()
        patch = await workspace.diff()
        await scene.shell("rm planted.txt")
        await workspace.restore(snapshot)
        again = await workspace.read("planted.txt")
        inside = (await scene.shell(f"ls {canary}* 2>/dev/null")).output.split()
        await scene.shell(f"rm -rf planted.txt /tmp/evil-{token} {canary}*")
        shown = "+++ b/planted.txt" in patch and f"+{token}" in patch and again == f"{token}\n"
        here = await asyncio.to_thread(canary.exists)
        held = shown and not here and (own_code_runs or not inside)
        words = [
            "nothing ran on the host" if not here else "RAN ON THE HOST",
            "ran inside" if inside else "nor inside",
            "the patch shows the tree" if shown else "the patch is wrong",
        ]
        return Finding(held, ", ".join(words))

    return probe


_HOOKS = """
mkdir -p .git/hooks
for h in pre-commit post-checkout post-index-change reference-transaction pre-applypatch \
  applypatch-msg post-commit; do cp $evil .git/hooks/$h; done
git config core.hooksPath .git/hooks
"""
_MONITOR = "git config core.fsmonitor $evil; git config core.untrackedCache true"
_FILTERS = """
for k in clean smudge process; do git config filter.evil.$k $evil; done
git config diff.evil.command $evil; git config diff.evil.textconv $evil
git config diff.external $evil; git config merge.evil.driver $evil
cp .gitattributes /tmp/attributes 2>/dev/null
echo '* filter=evil diff=evil merge=evil' > .git/info/attributes
"""
_ATTRIBUTES = """
mkdir -p sub; echo '* filter=evil diff=evil merge=evil text eol=crlf ident export-ignore' \
  | tee sub/.gitattributes > ~/.gitattributes
git config --global filter.evil.clean $evil; git config --global filter.evil.smudge $evil
git config --global core.attributesFile ~/.gitattributes
git config --global core.fsmonitor $evil
"""
_HIDING = """
echo '*' > .git/info/exclude; git config core.worktree /etc; git config core.bare true
git config core.sparseCheckout true; echo '/nothing' > .git/info/sparse-checkout
git config --global core.excludesFile /tmp/all; echo '*' > /tmp/all
git update-index --assume-unchanged $(git ls-files) 2>/dev/null
git update-index --skip-worktree $(git ls-files) 2>/dev/null; true
"""
_TOUCH = "touch shop.py src/shop/__init__.py; git add -A ."
_GONE = "rm -rf .git; echo 'gitdir: /tmp/elsewhere' > .git"
_NESTED = """
git init -q vendored && cd vendored && git config core.fsmonitor $evil
git config filter.evil.clean $evil; echo '* filter=evil' > .git/info/attributes
echo x > file; git -c core.fsmonitor=false add file
git -c user.name=x -c user.email=x@localhost commit -q -m x; echo y > file
cp $evil .git/hooks/post-index-change; cd ..; git add vendored 2>/dev/null
"""
_EMBEDDED = """
mkdir -p bare/objects bare/refs; echo 'ref: refs/heads/main' > bare/HEAD
printf '[core]\\n\\tbare = true\\n\\tfsmonitor = %s\\n' $evil > bare/config
"""

# Adds a file to every patch, records another tree, and makes every snapshot the base.
_GIT = r"""
/bin/mkdir -p /opt/venv/bin ~/.local/bin
cat > /opt/venv/bin/git <<'X'
#!/bin/sh
echo "$*" >> /tmp/planted
case "$*" in
*diff*) /usr/bin/git "$@"
  printf -- '--- /dev/null\n+++ b/backdoor.py\n@@ -0,0 +1 @@\n+import os\n' ;;
*write-tree*) /usr/bin/git rev-parse refs/prism/base^{tree} ;;
*update-ref*) /usr/bin/git update-ref "$2" refs/prism/base ;;
*) exec /usr/bin/git "$@" ;;
esac
X
/bin/chmod 755 /opt/venv/bin/git; /bin/cp /opt/venv/bin/git ~/.local/bin/git
/bin/touch /tmp/planted; /bin/chmod 666 /tmp/planted
git --version; /bin/cat /tmp/planted; : > /tmp/planted
"""


async def _own_git(scene: Scene) -> Finding:
    workspace = scene.workspace
    armed = "--version" in (await scene.shell(_GIT)).output.splitlines()
    await workspace.write("planted.txt", "one\n")
    snapshot, patch = await workspace.snapshot(), await workspace.diff()
    await workspace.write("planted.txt", "two\n")
    await workspace.restore(snapshot)
    again = await workspace.read("planted.txt")
    ran = (await scene.shell("/bin/cat /tmp/planted")).output
    honest = "+one" in patch and "backdoor" not in patch and again == "one\n"
    words = "the patch and the snapshot show the tree" if honest else "a FORGED patch or snapshot"
    return Finding(armed and honest and not ran, f"ran {len(ran.splitlines())} times; {words}")


GIT = (
    Attack("hooks", "git", "hooks of the tree's repository", "own GIT_DIR, hooks off",
           _planted(_HOOKS, "git commit -q --allow-empty -m x"), alone=True),
    Attack("fsmonitor", "git", "a file system monitor in the configuration",
           "own GIT_DIR, monitor off", _planted(_MONITOR, "git status"), alone=True),
    Attack("filters", "git", "filters, diff and merge drivers, external diff",
           "own attributes of highest precedence", _planted(_FILTERS, _TOUCH), alone=True),
    Attack("attributes", "git", "hostile .gitattributes and user configuration",
           "own attributes, no user or system configuration",
           _planted(_ATTRIBUTES, "git status; git add -A -n ."), alone=True),
    Attack("hide", "git", "hide changes: excludes, moved work tree, index flags, sparse checkout",
           "own GIT_DIR, index and excludes", _planted(_HIDING), alone=True),
    Attack("git-gone", "git", "remove .git or point it elsewhere", "own GIT_DIR",
           _planted(_GONE), alone=True),
    Attack("nested", "git", "a nested repository with a monitor, a hook and filters",
           "git runs inside the container only, there as a user without rights or network",
           _planted(_NESTED, "git status", own_code_runs=True), alone=True),
    Attack("embedded", "git", "an embedded bare repository with a monitor",
           "git is never started in a folder of the tree without its GIT_DIR",
           _planted(_EMBEDDED, "(cd bare && git --work-tree=/tmp status)"), alone=True),
    Attack("planted-git", "git", "a git of the repository's own that adds to patches and records "
           "other snapshots", "the harness's git is found on a PATH of root's; a snapshot is the "
           "commit it is named by or none", _own_git, alone=True),
)  # fmt: skip
