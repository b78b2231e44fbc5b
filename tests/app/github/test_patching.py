"""Patches applied in a bare mirror."""

import time
from pathlib import Path

import pytest

from app.github.errors import PatchDoesNotApply
from app.github.patching import apply_patch
from app.github.source import local_source

LINK = """diff --git a/link b/link
new file mode 120000
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+/etc
\\ No newline at end of file
"""


def new_file(path: str, text: str = "x") -> str:
    """A patch that adds one line in one file."""
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1 @@\n+{text}\n"
    )


async def test_the_tree_is_what_git_itself_would_commit(repository):
    """Modified, added, deleted and binary files give the tree of a real commit."""
    base = repository.git("rev-parse", "HEAD").strip()
    repository.write("src/calc.py", "def add(a, b):\n    return a + b\n")
    repository.write("tests/é t.py", "assert True\n")
    repository.write("data.bin", bytes(range(256)))
    (repository.path / "README.md").unlink()
    patch = repository.patch()
    expected = repository.git("write-tree").strip()
    with local_source(repository.path, base) as source:
        result = await apply_patch(source.mirror, base, patch)
    assert result.tree == expected
    assert {file.path: file.content for file in result.files} == {
        "README.md": None,
        "data.bin": bytes(range(256)),
        "src/calc.py": b"def add(a, b):\n    return a + b\n",
        "tests/é t.py": b"assert True\n",
    }


async def test_line_ends_are_kept(repository):
    """A patch of a file with Windows line ends gives exactly the changed bytes."""
    repository.write(".gitattributes", "*.txt text\n")
    repository.write("dos.txt", b"one\r\ntwo\r\n")
    for path in (".gitattributes", "dos.txt"):
        blob = repository.git("hash-object", "-w", "--no-filters", path).strip()
        repository.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    repository.git("commit", "--quiet", "-m", "dos")
    patch = (
        "diff --git a/dos.txt b/dos.txt\n--- a/dos.txt\n+++ b/dos.txt\n"
        "@@ -1,2 +1,2 @@\n one\r\n-two\r\n+three\r\n"
    )
    with local_source(repository.path) as source:
        result = await apply_patch(source.mirror, source.base_commit, patch)
    assert [file.content for file in result.files] == [b"one\r\nthree\r\n"]


async def test_the_mirror_keeps_nothing(repository):
    """Objects of a patch that was only tried do not stay in the mirror."""
    with local_source(repository.path) as source:
        objects = source.mirror.path / "objects"
        before = sorted(p for p in objects.rglob("*") if p.is_file())
        await apply_patch(source.mirror, source.base_commit, new_file("a.py"))
        assert sorted(p for p in objects.rglob("*") if p.is_file()) == before


@pytest.mark.parametrize(
    "path",
    ["../x", "a/../../x", "/etc/x", ".git/config", ".GIT/config", "git~1/config", "s/.git/x"],
)
async def test_paths_out_of_the_tree_are_refused(repository, path):
    """git refuses paths that leave the tree or reach git's own folder."""
    with local_source(repository.path) as source, pytest.raises(PatchDoesNotApply):
        await apply_patch(source.mirror, source.base_commit, new_file(path))


async def test_writing_through_a_link_of_the_same_patch_is_refused(repository):
    """A patch that makes a link and writes below it touches nothing."""
    with local_source(repository.path) as source, pytest.raises(PatchDoesNotApply):
        await apply_patch(source.mirror, source.base_commit, LINK + new_file("link/evil"))


@pytest.mark.parametrize("size", ["629145600", "9" * 5000])
async def test_a_bomb_is_refused_quickly(repository, size):
    """A small patch that declares a huge blob neither fills memory nor takes long."""
    patch = (
        "diff --git a/b b/b\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\n"
        f"literal {size}\nzcmeIuF#!M&0K=e7001BW00000\n\n"
    )
    started = time.monotonic()
    with local_source(repository.path) as source, pytest.raises(PatchDoesNotApply, match="large"):
        await apply_patch(source.mirror, source.base_commit, patch)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("patch", ["", "not a patch", new_file("README.md")])
async def test_what_does_not_apply_says_so(repository, patch):
    """An empty text, prose, and a file that exists already are errors with git's words."""
    with local_source(repository.path) as source, pytest.raises(PatchDoesNotApply, match="git"):
        await apply_patch(source.mirror, source.base_commit, patch)


async def test_no_file_is_written_on_the_host(repository, tmp_path: Path, monkeypatch):
    """Applying in another folder leaves that folder empty."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with local_source(repository.path) as source:
        await apply_patch(source.mirror, source.base_commit, new_file("a.py"))
    assert list(elsewhere.iterdir()) == []
