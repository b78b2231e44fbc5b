"""Put the tree of a commit in its place and record it; or change it to that of another commit."""

from dataclasses import replace
from typing import Protocol

from sandbox.base import Source
from sandbox.errors import SandboxError
from sandbox.runner import Layout, Outcome, Runner, Script
from sandbox.scripts import RECORD_BASE, SETTLE, script

LIST_LIMIT = 32_000_000
_UNPACK = 'exec tar -x --no-same-owner -C "$1" -f -'

_OLD_PATHS = """
git -c safe.directory='*' --git-dir="$base_git" ls-tree -r -z --name-only HEAD
"""
# Objects of the other commit go too: it may be a later one, with the answer in it.
_FORGET = """
rm -rf "$base_git" "$work_git" "$1"
mkdir "$1"
chown --reference="$tree" "$1"
"""
# What stands in the way of a removal is the set-up's own and stays. Byte code of removed modules
# would keep their packages importable.
_REMOVE = """
cd "$tree" || exit
list=$(mktemp "$scratch/gone.XXXXXX")
cat > "$list"
xargs -0 -r rm -f -- < "$list" 2>/dev/null
sed -z -n 's,/[^/]*$,,p' "$list" | sort -z -u | while IFS= read -r -d '' folder; do
  rm -rf -- "$folder/__pycache__"
  rmdir -p --ignore-fail-on-non-empty -- "$folder" 2>/dev/null
done
rm -f "$list"
"""
_SETTLE_ONCE = SETTLE + '\nrm -rf "$tree/.git"\n'


class SetupRunner(Runner, Protocol):
    """A runner that can also place what repository code must not change."""

    async def as_root(self, script: Script) -> Outcome:
        """Run a script of the harness with the rights to do so."""


async def place_tree(runner: SetupRunner, source: Source, timeout_s: float) -> None:
    """Stream the tree in and record it; every file of the commit must have arrived."""
    await _unpack_and_record(runner, source, runner.layout, timeout_s)


async def change_tree(runner: SetupRunner, source: Source, timeout_s: float) -> None:
    """Put the tree of another commit in the place of the one that is there.

    Files that differ are written and get the present time, as build tools that compare times
    need it; files the commit lacks go; all others, of either kind, are not touched.
    """
    layout = runner.layout
    incoming = f"{layout.tree}.incoming"
    listed = await runner.as_root(
        Script(script(_OLD_PATHS, layout), timeout_s=300, output_limit=LIST_LIMIT)
    )
    check("reading the old base", listed)
    forget = Script(script(_FORGET, layout), args=(incoming,), timeout_s=300)
    check("making room", await runner.as_root(forget))
    here = await _unpack_and_record(runner, source, replace(layout, tree=incoming), timeout_s)
    gone = sorted(set(listed.text.split("\0")) - here - {""})
    remove = Script(script(_REMOVE, layout), stdin="\0".join([*gone, ""]).encode(), timeout_s=300)
    check("removing old files", await runner.run(remove))
    settle = Script(script(_SETTLE_ONCE, layout), timeout_s=300, output_limit=LIST_LIMIT)
    check("changing files", await runner.run(settle))
    check(
        "tidying up", await runner.as_root(Script('rm -rf "$1"', args=(incoming,), timeout_s=300))
    )


async def _unpack_and_record(
    runner: SetupRunner, source: Source, layout: Layout, timeout_s: float
) -> set[str]:
    """Returns the recorded paths, which hold more than the source's: symbolic links too."""
    unpacked = await runner.run(
        Script(_UNPACK, args=(layout.tree,), stdin=source.archive(), timeout_s=timeout_s)
    )
    check("unpacking the repository", unpacked)
    recorded = await runner.as_root(
        Script(script(RECORD_BASE, layout), timeout_s=300, output_limit=LIST_LIMIT)
    )
    check("recording the base", recorded)
    here = set(recorded.text.split("\0"))
    missing = [path for path in await source.files() if path not in here]
    if missing:
        raise SandboxError(
            f"{len(missing)} files of the commit did not arrive, first {missing[0]!r}."
        )
    return here


def check(what: str, outcome: Outcome) -> None:
    """Raise SandboxError when a script of the harness failed."""
    if outcome.exit_code != 0:
        raise SandboxError(f"Preparing the sandbox failed while {what}: {outcome.reason}")
