"""Build trees and commits in a bare repository, with few git processes however many files."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from emulator.github.git_store import (
    NO_SHA,
    GitFailed,
    Signature,
    branch_sha,
    git,
    list_tree,
)


def edit_tree(path: Path, base: str | None, entries: Iterable[tuple[str, str, str | None]]) -> str:
    """Build a tree from `base` and (path, mode, sha) entries; sha None deletes.

    A file gives way to a folder of its name and a folder to a file. GitFailed for what git
    refuses and for deleting what is not there.
    """
    with tempfile.TemporaryDirectory() as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        if base is not None:
            git(path, "read-tree", base, env=env)
        listing = git(path, "ls-files", "-z", env=env) if base is not None else b""
        present = set(os.fsdecode(listing).split("\0")[:-1])
        lines = [line for each in entries for line in _lines(path, present, *each)]
        text = os.fsencode("".join(f"{line}\0" for line in lines))
        git(path, "update-index", "-z", "--index-info", stdin=text, env=env)
        return git(path, "write-tree", env=env).decode().strip()


def _lines(path: Path, present: set[str], name: str, mode: str, sha: str | None) -> list[str]:
    inside = {each for each in present if each == name or each.startswith(f"{name}/")}
    if sha is None and not inside:
        raise GitFailed(f"{name} is not in the tree")
    above = {parent for parent in map(str, Path(name).parents) if parent in present}
    present -= inside | above
    lines = [f"0 {NO_SHA}\t{each}" for each in sorted(inside | above)]
    if sha is None:
        return lines
    added = {name: (mode, sha)}
    if mode == "040000":
        added = {
            f"{name}/{each.path}": (each.mode, each.sha)
            for each in list_tree(path, sha, recursive=True)
            if each.kind != "tree"
        }
    present |= set(added)
    return lines + [f"{kind} {id_}\t{each}" for each, (kind, id_) in added.items()]


def commit_files(
    path: Path,
    branch: str,
    files: Mapping[str, tuple[str, bytes]],
    message: str,
    who: Signature,
) -> str:
    """Commit exactly these files (path to mode and content) on a branch, in one process."""
    text = message.encode()
    before = branch_sha(path, branch)
    parts = [
        f"commit refs/heads/{branch}\nauthor {who.line()}\ncommitter {who.line()}\n".encode(),
        b"data %d\n%s\n" % (len(text), text),
        b"" if before is None else f"from {before}\n".encode(),
        b"deleteall\n",
    ]
    for name, (mode, content) in files.items():
        parts.append(f"M {mode} inline {_quoted(name)}\ndata {len(content)}\n".encode())
        parts += [content, b"\n"]
    git(path, "fast-import", "--quiet", "--date-format=raw", stdin=b"".join(parts))
    made = branch_sha(path, branch)
    assert made is not None
    return made


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
