"""A repository at one commit, read without a work tree."""

import io
import tarfile
from pathlib import Path

import pytest

from app.github.errors import MirrorFailed
from app.github.source import MirrorSource, local_source


async def unpack(source: MirrorSource) -> dict[str, bytes]:
    """The archive's regular files."""
    data = b"".join([chunk async for chunk in source.archive()])
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {
            member.name: tar.extractfile(member).read()  # type: ignore[union-attr]
            for member in tar
            if member.isfile()
        }


async def test_files_reads_and_archive_agree(repository):
    """Listing, single reads and the archive show the same bytes."""
    with local_source(repository.path) as source:
        files = await source.files()
        unpacked = await unpack(source)
        assert files == ("README.md", "src/calc.py")
        assert {path: await source.read(path) for path in files} == unpacked


async def test_the_commit_is_read_not_the_work_tree(repository):
    """Uncommitted changes are not part of the source."""
    repository.write("README.md", "changed\n")
    repository.write("new.py", "x\n")
    with local_source(repository.path) as source:
        assert await source.read("README.md") == b"calc\n"
        assert await source.read("new.py") is None


async def test_archives_are_byte_exact(repository):
    """Attributes that leave out, rewrite or filter files have no effect."""
    repository.write(
        ".gitattributes",
        "tests export-ignore\n*.txt export-subst\n*.py text eol=crlf ident\n*.bin filter=lfs\n",
    )
    repository.write("tests/test_a.py", "# $Id$\n")
    repository.write("v.txt", "$Format:%H$\n")
    repository.write("a.bin", b"\x00\x01\r\n")
    repository.write("dos.py", b"a\r\nb\n")
    blob = repository.git("hash-object", "-w", "--no-filters", "dos.py").strip()
    repository.git("add", "-A", "-f")
    repository.git("update-index", "--cacheinfo", f"100644,{blob},dos.py")
    repository.git("commit", "--quiet", "-m", "attributes")
    with local_source(repository.path) as source:
        unpacked = await unpack(source)
    assert unpacked["tests/test_a.py"] == b"# $Id$\n"
    assert unpacked["v.txt"] == b"$Format:%H$\n"
    assert unpacked["a.bin"] == b"\x00\x01\r\n"
    assert unpacked["dos.py"] == b"a\r\nb\n"


async def test_nothing_of_a_hostile_repository_runs(repository, tmp_path: Path):
    """Hooks, filters and monitors configured in the repository are never started."""
    canary = tmp_path / "canary"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\necho ran >> {canary}\ncat\n", encoding="utf-8")
    script.chmod(0o755)
    repository.write(".gitattributes", "* filter=evil diff=evil\n")
    repository.commit("attributes")
    for key in ("filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv"):
        repository.git("config", key, str(script))
    repository.git("config", "core.fsmonitor", str(script))
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
        (repository.path / ".git/hooks" / hook).write_bytes(script.read_bytes())
        (repository.path / ".git/hooks" / hook).chmod(0o755)
    with local_source(repository.path) as source:
        await source.files()
        await source.read("src/calc.py")
        await unpack(source)
    assert not canary.exists()


async def test_only_regular_files_are_read(repository):
    """Links, folders and odd paths read as None; links are not listed."""
    (repository.path / "link").symlink_to("/etc/passwd")
    repository.commit("link")
    with local_source(repository.path) as source:
        assert "link" not in await source.files()
        for path in ("link", "src", "src/", "../project/README.md", "*", ":(top)README.md", ""):
            assert await source.read(path) is None


async def test_strange_names_survive(repository):
    """Names with spaces, newlines, quotes, dashes and letters beyond ASCII are listed and read."""
    names = ["-rf", "é b.txt", 'q"uote', "new\nline", "$(touch x)"]
    for name in names:
        repository.write(name, name)
    repository.commit("names")
    with local_source(repository.path) as source:
        assert set(names) <= set(await source.files())
        for name in names:
            assert await source.read(name) == name.encode()


def test_no_repository_and_no_commit_are_told_apart(tmp_path: Path, make_repository):
    """A folder without git and a repository without commits fail with a plain sentence."""
    with pytest.raises(MirrorFailed, match="not in a git repository"), local_source(tmp_path):
        pass
    empty = make_repository("empty")
    with pytest.raises(MirrorFailed, match="no commit `HEAD`"), local_source(empty.path):
        pass


async def test_a_reader_may_leave_early(repository):
    """Stopping in the middle of an archive ends git and leaves nothing open."""
    repository.write("big", b"x" * 1_000_000)
    repository.commit("big")
    with local_source(repository.path) as source:
        stream = source.archive()
        first = await anext(stream)
        await stream.aclose()
    assert first
