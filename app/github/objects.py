"""Git objects of a bare mirror, for the code index: trees, contents and ancestors."""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import IO, Literal

from app.github.errors import MirrorFailed
from app.github.mirror import Mirror, git_environment, run_git
from pipeline.index.errors import ObjectMissing, UnknownCommit
from pipeline.index.objects import CommitInfo, TreeEntry

CHUNK = 1 << 16
ASKED_AT_ONCE = 500  # ids of 65 bytes: fewer bytes than the smallest pipe takes without blocking
MAX_PATHS = 2_000  # of one commit; what touches more tells nothing about a place
MAX_MESSAGE = 10_000
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_KINDS: dict[bytes, Literal["file", "symlink", "submodule"]] = {
    b"120000": "symlink",
    b"160000": "submodule",
}


@dataclass(frozen=True, slots=True)
class MirrorObjects:
    """Implements `pipeline.index.objects.GitObjects`; starts one git process per call."""

    mirror: Mirror

    def resolve(self, commit: str) -> str:
        """The full object name of a commit; raises UnknownCommit."""
        wanted = commit + "^{commit}"
        command = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", wanted]
        try:
            found = run_git(self.mirror, command).decode().strip()
        except (MirrorFailed, ValueError):  # ValueError: a NUL in the name
            found = ""
        if not _ID.fullmatch(found):
            raise UnknownCommit(f"The repository has no commit {commit!r}.")
        return found

    def tree(self, commit: str) -> Sequence[TreeEntry]:
        """All paths of a commit, sorted by path; raises UnknownCommit."""
        command = ["git", "ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options"]
        try:
            listing = run_git(self.mirror, [*command, commit + "^{commit}"])
        except (MirrorFailed, ValueError):  # only then is it worth a process to know why
            listing = run_git(self.mirror, [*command, self.resolve(commit)])
        entries = [_entry(record) for record in listing.split(b"\0") if record]
        return sorted(entries, key=lambda entry: entry.path)

    def blobs(self, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Contents in the order asked for; raises ObjectMissing at the first that is not there."""
        waiting = iter(ids)
        batch = list(islice(waiting, ASKED_AT_ONCE))
        if not batch:
            return
        with self._reading(["git", "cat-file", "--batch"]) as (stdin, stdout):
            while batch:
                stdin.write("".join(f"{blob}\n" for blob in batch).encode())
                stdin.flush()
                for blob in batch:
                    yield blob, _content(stdout, blob)
                batch = list(islice(waiting, ASKED_AT_ONCE))

    def history(self, commit: str, limit: int) -> Iterator[CommitInfo]:
        """Ancestors that are no merges, newest first, at most `limit`; raises UnknownCommit.

        Of a commit at most 2,000 paths and 10,000 characters of its message are told.
        """
        name = self.resolve(commit)
        command = ["git", "log", "-z", f"--max-count={max(limit, 0)}", "--no-merges"]
        command += ["--no-renames", "--name-only", "--no-show-signature", "--encoding=UTF-8"]
        command += ["--format=tformat:%x00%H%x00%ct%x00%B%x00", name, "--"]
        with self._reading(command) as (_, stdout):
            yield from _commits(_fields(stdout))

    @contextmanager
    def _reading(self, command: list[str]) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """A git process that is ended when the reader is done or goes away."""
        environ = {"PATH": os.environ.get("PATH", os.defpath), **git_environment(self.mirror)}
        process = subprocess.Popen(
            command,
            cwd=self.mirror.path,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdin, process.stdout
        except BrokenPipeError:
            raise ObjectMissing("git ended while it was read from.") from None
        finally:
            process.kill()
            process.stdout.close()
            with suppress(BrokenPipeError):  # what was still to be asked is of no interest
                process.stdin.close()
            process.wait()


def _entry(record: bytes) -> TreeEntry:
    meta, _, name = record.partition(b"\t")
    mode, _, blob, size = meta.split()
    kind = _KINDS.get(mode, "file")
    length = int(size) if kind == "file" and size.isdigit() else 0
    return TreeEntry(name.decode("utf-8", "surrogateescape"), blob.decode("ascii"), length, kind)


def _content(stdout: IO[bytes], blob: str) -> bytes:
    head = stdout.readline().split()
    if len(head) != 3 or not head[2].isdigit():
        raise ObjectMissing(f"git has no object {blob}: the mirror is damaged or incomplete.")
    size = int(head[2])
    data = stdout.read(size + 1)
    if len(data) != size + 1:
        raise ObjectMissing(f"git gave only a part of object {blob}.")
    return data[:-1]


def _fields(stdout: IO[bytes]) -> Iterator[bytes]:
    """What stands between NUL bytes."""
    rest = b""
    while chunk := stdout.read(CHUNK):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
    yield rest


def _commits(fields: Iterator[bytes]) -> Iterator[CommitInfo]:
    """Each commit is ("", id, time, message, "", "\\n" + path, path …); no path is empty."""
    if next(fields, None) != b"":
        return
    while commit := next(fields, b""):
        time, message = int(next(fields)), next(fields)
        next(fields)
        paths: list[str] = []
        for field in iter(lambda: next(fields, b""), b""):
            if len(paths) < MAX_PATHS:
                text = field if paths else field.removeprefix(b"\n")
                paths.append(text.decode("utf-8", "surrogateescape"))
        yield CommitInfo(
            commit.decode("ascii"),
            time,
            message.decode("utf-8", "replace").strip()[:MAX_MESSAGE],
            tuple(paths),
        )
