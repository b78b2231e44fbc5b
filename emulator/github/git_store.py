"""Plumbing on the bare repositories: the same ones that git over HTTP serves.

Nothing here has a work tree. Every function blocks for some milliseconds (one git process).
"""

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

SHA = re.compile(r"[0-9a-f]{40}\Z")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
NO_SHA = "0" * 40
# No configuration of the machine or of its user reaches these repositories.
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


# What GitHub asks of a push by an App without the permission "workflows".
_PRE_RECEIVE = """#!/bin/sh
[ "$MAY_CHANGE_WORKFLOWS" = no ] || exit 0
while read -r old new ref; do
  case $new in *[!0]*) ;; *) continue ;; esac
  file=$(git log --format= --name-only "$new" --not --all -- .github/workflows | head -n 1)
  [ -z "$file" ] && continue
  echo "refusing to allow a GitHub App to create or update workflow \\`$file\\`" \
    "without \\`workflows\\` permission" >&2
  exit 1
done
"""


_CONFIG = """[http]
	receivepack = true
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[gc]
	auto = 0
"""


class GitFailed(Exception):
    """git ended with an error; the text is its standard error."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Who and when, as it stands in a commit; `date` is git's "<seconds> <zone>"."""

    name: str
    email: str
    date: str

    def line(self) -> str:
        """The signature as it stands in a commit."""
        return f"{self.name} <{self.email}> {self.date}"


def git(
    path: Path, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> bytes:
    """Run git in the bare repository; GitFailed when it fails."""
    done = subprocess.run(
        ["git", "-c", "core.quotePath=false", *arguments],
        cwd=path,
        input=stdin,
        capture_output=True,
        check=False,
        env={"PATH": os.environ["PATH"], **_ENVIRONMENT, **(env or {})},
    )
    if done.returncode != 0:
        raise GitFailed(done.stderr.decode(errors="replace").strip())
    return done.stdout


def create(path: Path, default_branch: str) -> None:
    """Make an empty bare repository that accepts pushes over HTTP."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--bare", f"--initial-branch={default_branch}")
    with (path / "config").open("a") as config:
        config.write(_CONFIG)
    hook = path / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(_PRE_RECEIVE)
    hook.chmod(0o755)


def is_empty(path: Path) -> bool:
    """Whether the repository has no branch and no tag yet."""
    return not git(path, "for-each-ref", "--count=1", "refs/heads", "refs/tags")


def resolve(path: Path, revision: str) -> str | None:
    """The object id a name stands for, or None."""
    if revision.startswith("-"):
        return None
    try:
        return git(path, "rev-parse", "--verify", "--quiet", revision).decode().strip()
    except GitFailed:
        return None


def kind(path: Path, sha: str) -> str | None:
    """ "commit", "tree", "blob" or "tag", or None when the object does not exist."""
    if not SHA.match(sha):
        return None
    try:
        return git(path, "cat-file", "-t", sha).decode().strip()
    except GitFailed:
        return None


def read(path: Path, kind_of: str, sha: str) -> bytes:
    """The bytes of an object."""
    return git(path, "cat-file", kind_of, sha)


def write(path: Path, kind_of: str, content: bytes) -> str:
    """Store an object and return its id."""
    out = git(path, "hash-object", "-w", "-t", kind_of, "--stdin", stdin=content)
    return out.decode().strip()


def branch_sha(path: Path, branch: str) -> str | None:
    """The commit at the head of a branch, or None."""
    return resolve(path, f"refs/heads/{branch}^{{commit}}")


def references(path: Path, prefix: str) -> list[tuple[str, str, str]]:
    """Name, object id and kind of every reference that starts with `prefix`, by name."""
    listing = git(path, "for-each-ref", "--format=%(refname) %(objectname) %(objecttype)")
    rows = (line.rsplit(" ", 2) for line in listing.decode().splitlines())
    return [(row[0], row[1], row[2]) for row in rows if row[0].startswith(prefix)]


def update_reference(path: Path, name: str, new: str, old: str) -> None:
    """Move a reference from `old` (NO_SHA: must not exist) to `new`; GitFailed when it moved."""
    git(path, "update-ref", name, new, old)


def delete_reference(path: Path, name: str) -> None:
    """Delete a reference."""
    git(path, "update-ref", "-d", name)


def is_ancestor(path: Path, older: str, newer: str) -> bool:
    """Whether `newer` can be reached from `older` by a fast forward."""
    try:
        git(path, "merge-base", "--is-ancestor", older, newer)
    except GitFailed:
        return False
    return True


def merge_base(path: Path, one: str, other: str) -> str | None:
    """The best common ancestor of two commits, or None."""
    try:
        return git(path, "merge-base", one, other).decode().strip()
    except GitFailed:
        return None


def merged_tree(path: Path, base: str, head: str) -> str:
    """The tree of a merge of two commits; GitFailed when they are in conflict."""
    return git(path, "merge-tree", "--write-tree", base, head).decode().split()[0]


def is_reference_name(name: str) -> bool:
    """Whether git accepts the full name of a reference."""
    try:
        git(Path("/"), "check-ref-format", name)
    except GitFailed:
        return False
    return True


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One line of a tree; `size` is None for anything but a blob."""

    mode: str
    kind: str
    sha: str
    path: str
    size: int | None


def list_tree(path: Path, tree: str, *, recursive: bool = False) -> list[TreeEntry]:
    """The entries of a tree; recursive also names the folders."""
    flags = ["-r", "-t"] if recursive else []
    entries = []
    for record in git(path, "ls-tree", "-z", "-l", *flags, tree).split(b"\0")[:-1]:
        head, name = record.split(b"\t", 1)
        mode, what, sha, size = head.decode().split()
        entries.append(
            TreeEntry(
                mode,
                what,
                sha,
                name.decode(errors="surrogateescape"),
                None if size == "-" else int(size),
            )
        )
    return entries


def write_commit(
    path: Path,
    tree: str,
    parents: Iterable[str],
    message: str,
    author: Signature,
    committer: Signature,
) -> str:
    """Store a commit with exactly this message and return its id."""
    lines = [f"tree {tree}", *(f"parent {each}" for each in parents)]
    lines += [f"author {author.line()}", f"committer {committer.line()}"]
    return write(path, "commit", ("\n".join(lines) + "\n\n" + message).encode())


@dataclass(frozen=True, slots=True)
class Commit:
    """A parsed commit."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str


def read_commit(path: Path, sha: str) -> Commit:
    """Parse a commit; GitFailed when the object is none."""
    head, _, message = read(path, "commit", sha).decode(errors="replace").partition("\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.splitlines():
        key, _, value = line.partition(" ")
        fields.setdefault(key, []).append(value)
    return Commit(
        sha,
        fields["tree"][0],
        tuple(fields.get("parent", ())),
        _signature(fields["author"][0]),
        _signature(fields["committer"][0]),
        message,
    )


def _signature(line: str) -> Signature:
    found = re.match(r"(.*?) ?<(.*)> (\d+ [+-]\d{4})\Z", line)
    assert found is not None
    return Signature(found[1], found[2], found[3])


def history(path: Path, revisions: str, limit: int = 1000) -> list[str]:
    """Commit ids of a revision or range, newest first."""
    out = git(path, "rev-list", f"--max-count={limit}", revisions, "--")
    return out.decode().split()
