"""Reading, applying and putting together patches, held against real git."""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.patch.patch import (
    PatchError,
    apply,
    changed_lines,
    combine,
    parse,
    paths,
    render,
    without_paths,
)

Tree = Mapping[str, str]

NAMES = (
    "a.txt",
    "dir/b c.py",
    " lead",
    'q"uote',
    "tab\there",
    "é/ü.txt",
    "new\nline",
    "back\\slash",
    "-rf",
    "b/a b/a",
    "bytes\udcff",
)
LINES = (
    "one\n",
    "two\n",
    "\n",
    "    deep\n",
    "windows\r\n",
    "form\x0cfeed\n",
    "é\u2028\n",
    "latin \udce9\n",
    "--- a/a.txt\n",
    "+++ b/a.txt\n",
    "@@ -1 +1 @@\n",
    "diff --git a/a.txt b/a.txt\n",
    "\\ No newline at end of file\n",
)
texts = st.builds(
    lambda lines, tail: "".join(lines) + tail,
    st.lists(st.sampled_from(LINES), max_size=30),
    st.sampled_from(("", "no newline", "\r", "x")),
)
trees = st.dictionaries(st.sampled_from(NAMES), texts, max_size=4)
quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


class Repository:
    """A real repository whose only commit holds `base`."""

    def __init__(self, root: Path, base: Tree) -> None:
        self.root = root
        self.git("init", "-q")
        self.fill(base)
        self.git("commit", "-q", "--allow-empty", "-m", "base")

    def git(self, *args: str, stdin: str = "") -> str:
        """Run git with nothing of this machine's configuration; its output."""
        done = subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *args],
            cwd=self.root,
            input=stdin.encode("utf-8", "surrogateescape"),
            capture_output=True,
            env={"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent"},
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "surrogateescape")

    def fill(self, tree: Tree) -> None:
        """Make work tree and index hold `tree` and nothing else."""
        self.git("rm", "-rqf", "--ignore-unmatch", ".")
        for name, text in tree.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        self.git("add", "-A")

    def diff(self) -> str:
        """The staged change, as the sandbox takes it."""
        return self.git("diff", "--cached", "--binary", "--full-index", "--no-renames")

    def read(self) -> dict[str, str]:
        """The work tree."""
        files = (path for path in self.root.rglob("*") if ".git" not in path.parts)
        return {
            str(path.relative_to(self.root)): path.read_bytes().decode("utf-8", "surrogateescape")
            for path in files
            if path.is_file()
        }


def applied(patch: str, base: Tree) -> dict[str, str]:
    """The tree after `patch` by our own rules."""
    tree = dict(base)
    for part in parse(patch):
        text = apply(part, tree.pop(part.old_path, None) if part.old_path else None)
        if text is not None:
            tree[part.path] = text
    return tree


def fits(tree: Tree) -> bool:
    """Whether no name is a folder of another one."""
    return not any(one.startswith(other + "/") for one in tree for other in tree)


@quick
@given(trees.filter(fits), trees.filter(fits))
def test_reading_and_applying_gives_what_git_made(base: Tree, after: Tree) -> None:
    """For any two trees our reading of git's diff turns the one into the other."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(folder), base)
        repository.fill(after)
        patch = repository.diff()
    assert applied(patch, base) == after
    assert render(parse(patch)) == patch
    assert set(paths(patch)) == {n for n in {*base, *after} if base.get(n) != after.get(n)}


@quick
@given(trees.filter(fits), trees.filter(fits), texts)
def test_a_combined_patch_is_one_that_git_applies(base: Tree, after: Tree, text: str) -> None:
    """`combine` gives a patch that git applies to base, with exactly the new file more."""
    new = {"tests/test it.py": text, "tests/é.py": "x = 1\n"}
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(folder), base)
        repository.fill(after)
        both = combine(repository.diff(), new)
        repository.fill(base)
        repository.git("apply", "--index", "-", stdin=both)
        assert repository.read() == {**after, **new}
        ids = {part.path: part.new_id for part in parse(both)}
        for name in new:
            assert repository.git("rev-parse", f":{name}").strip() == ids[name]
    assert without_paths(both, set(new)) == render(parse(both)[: -len(new)])


def test_modes_and_binary_files_are_recorded(tmp_path: Path) -> None:
    """Executable bits, symbolic links and binary files are visible without applying."""
    repository = Repository(tmp_path, {"run.sh": "x\n", "data": "a\0b"})
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "data").write_bytes(b"\0" * 1000)
    (tmp_path / "link").symlink_to("run.sh")
    repository.git("add", "-A")
    data, link, script = parse(repository.diff())
    assert (script.old_mode, script.new_mode, script.hunks) == ("100644", "100755", ())
    assert (link.new_mode, link.old_path, link.added) == ("120000", None, ("run.sh",))
    assert data.is_binary
    with pytest.raises(PatchError, match="binary"):
        apply(data, "a\0b")


def test_a_rename_is_recorded_and_never_applied(tmp_path: Path) -> None:
    """A moved file keeps both names, so that a policy sees where it came from."""
    repository = Repository(tmp_path, {"old name.py": "x = 1\n" * 20})
    repository.fill({"sub/new.py": "x = 1\n" * 20 + "y = 2\n"})
    patch = repository.git("diff", "--cached", "-M", "--full-index")
    (part,) = parse(patch)
    assert (part.old_path, part.new_path, part.moved) == ("old name.py", "sub/new.py", "rename")
    assert paths(patch) == ("old name.py", "sub/new.py")
    with pytest.raises(PatchError, match="moved"):
        apply(part, "x = 1\n" * 20)


GOOD = """\
diff --git a/a.py b/a.py
index 1111111..2222222 100644
--- a/a.py
+++ b/a.py
@@ -1,2 +1,2 @@ def f
 one
-two
+2
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("+2\n", "+2"),  # cut off
        ("+2\n", ""),  # a line less than the head says
        ("+2\n", "+2\n+3\n"),  # a line more
        ("+2\n", "+2\ntrailing\n"),
        ("diff --git", "From 1234\ndiff --git"),
        ("--- a/a.py\n", ""),
        ("--- a/a.py", "--- a/b.py"),
        ("+++ b/a.py", "+++ /dev/null"),
        ("+++ b/a.py", "+++ b/a.py\t2020-01-01"),
        ("a/a.py b/a.py", "a/a.py b/b.py"),
        ("a/a.py b/a.py", "x/a.py y/a.py"),
        ("index", "new file mode 100644\ndeleted file mode 100644\nindex"),
        ("index", "old mode 100644\nindex"),
        ("@@ -1,2", "@@ -1"),
        (" one\n", "one\n"),
        (" one\n", "\n"),
        (" one\n", "\\ No newline at end of file\n one\n"),
        ("@@ -1,2 +1,2 @@ def f\n one\n-two\n+2\n", ""),
    ],
)
def test_anything_looser_than_git_writes_is_an_error(old: str, new: str) -> None:
    """The reader takes the good patch and refuses each damaged one."""
    assert changed_lines(GOOD) == 2
    assert old in GOOD
    with pytest.raises(PatchError):
        parse(GOOD.replace(old, new, 1))


@pytest.mark.parametrize("before", ["", "zero\none\ntwo\n", "one\n2\n", "one\ntwo", None])
def test_a_patch_is_never_applied_elsewhere(before: str | None) -> None:
    """No offset and no fuzz: lines that moved or differ are an error."""
    (part,) = parse(GOOD)
    assert apply(part, "one\ntwo\nrest\n") == "one\n2\nrest\n"
    with pytest.raises(PatchError):
        apply(part, before)


def test_combining_with_a_file_of_the_patch_is_refused() -> None:
    """A reproduction may not hide a file that the patch itself makes."""
    with pytest.raises(PatchError, match=r"a\.py"):
        combine(GOOD, {"a.py": "x"})


@given(st.text(max_size=200) | st.text('+- \n@a/b0123456789.diff-git\\"', max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No input makes the reader fail in any other way than PatchError."""
    try:
        parts = parse(text)
    except PatchError:
        return
    assert render(parts) == text


def names_to_git(patch: str, folder: Path) -> set[str] | None:
    """The paths that git says a patch has, None when it does not read it."""
    ran = subprocess.run(
        ["git", "apply", "--numstat", "-z", "-"],
        cwd=folder,
        input=patch.encode("utf-8", "surrogateescape"),
        capture_output=True,
        check=False,
    )
    if ran.returncode:
        return None
    rows = ran.stdout.decode("utf-8", "surrogateescape").split("\0")
    return {row.split("\t", 2)[2] for row in rows if row.count("\t") >= 2}


@quick
@given(
    after=trees,
    cuts=st.lists(
        st.tuples(
            st.integers(0, 60),
            st.sampled_from(
                ("drop", "double", "diff --git a/x b/y", "rename to y", "new file mode 120000",
                 "--- a/../x",
                 "+++ /dev/null", "@@ -0,0 +1 @@", "+", "GIT binary patch", "Index: y")
            ),
        ),
        max_size=3,
    ),
)  # fmt: skip
def test_git_never_reads_other_names(after: Tree, cuts: list[tuple[int, str]]) -> None:
    """Of a damaged patch that is still read here, git sees no path that was not seen here."""
    with tempfile.TemporaryDirectory() as folder:
        lines = combine("", after).splitlines(keepends=True)
        for at, what in cuts:
            if not lines:
                break
            line = at % len(lines)
            instead = {"drop": [], "double": [lines[line]] * 2}.get(what, [what + "\n"])
            lines[line : line + 1] = instead
        patch = "".join(lines)
        try:
            known = set(paths(patch))
        except PatchError:
            return
        seen = names_to_git(patch, Path(folder))
        assert seen is None or seen <= known
