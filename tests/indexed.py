"""Real git repositories for tests of the code index, and the index of one."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from app.github.mirror import local_mirror
from app.github.objects import MirrorObjects
from pipeline.index.build import build
from pipeline.index.store import Index, open_index

WHO = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]


def git(folder: Path, *command: str) -> str:
    """One git command of a test's own."""
    done = subprocess.run(["git", *WHO, *command], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def commit(folder: Path, files: Mapping[str, str | bytes | None], message: str = "x") -> str:
    """Write these files (None removes one) and commit; the repository is made when needed."""
    folder.mkdir(exist_ok=True)
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    for path, content in files.items():
        target = folder / path
        if content is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
        target.write_bytes(data)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def commit_many(folder: Path, files: Mapping[str, str]) -> str:
    """One commit of a new repository with very many files, none of them written to disk."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    lines = [
        "commit refs/heads/main",
        "committer t <t@example.org> 1700000000 +0000",
        "data 1",
        "x",
    ]
    for path, text in files.items():
        lines += [f"M 100644 inline {path}", f"data {len(text.encode())}", text]
    given = "\n".join([*lines, ""]).encode()
    subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=given, check=True)
    return git(folder, "rev-parse", "main")


@contextmanager
def objects_of(folder: Path) -> Iterator[MirrorObjects]:
    """The git objects of a repository."""
    with local_mirror(folder) as mirror:
        yield MirrorObjects(mirror)


@contextmanager
def indexed(folder: Path, files: Mapping[str, str | bytes | None]) -> Iterator[Index]:
    """The index of a commit with these files, in a new repository `folder/r`."""
    head = commit(folder / "r", files)
    with objects_of(folder / "r") as objects:
        build(objects, head, folder / "store.sqlite", workers=1)
        with open_index(folder / "store.sqlite", head, objects) as index:
            yield index
