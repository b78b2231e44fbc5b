"""`prism index` as an operator types it."""

import re
from pathlib import Path

from click.testing import CliRunner, Result

from app.cli import main
from pipeline.index.quoting import quoted
from tests.indexed import commit, git

FILES: dict[str, str | bytes | None] = {
    "shop/orders.py": "class Order:\n    def total(self):\n        return 1\n",
    "shop/mail.py": "def send_mail(text):\n    return text\n",
    "web/a.js": "function draw() {}\n",
    "min.js": "var a=1;" * 2000,
    "README": "Shop\n",
}
ISSUE = "# Order total is wrong\n\nThe `total` of an `Order` is always 1.\n"


def prism_index(folder: Path, *arguments: str, given: str = "") -> Result:
    """Run `prism index` with the data folder below `folder`."""
    environ = {"PRISM_DATA_DIR": str(folder / "data")}
    return CliRunner().invoke(main, ["index", *arguments], input=given, env=environ)


def test_a_folder_is_indexed_once(tmp_path: Path) -> None:
    """The second time nothing is parsed; nothing is written into the repository."""
    repository = str(tmp_path / "r")
    head = commit(tmp_path / "r", FILES)
    before = sorted((tmp_path / "r").rglob("*"))
    ended = prism_index(tmp_path, "build", repository)
    assert ended.exit_code == 0, ended.stderr
    assert ended.stdout.startswith(
        f"{head[:12]}: 5 files, 4 parsed (16 kB), 0 known before, 1 only"
    )
    assert not ended.stderr
    assert "none parsed, 4 known before" in prism_index(tmp_path, "build", repository).stdout
    assert sorted((tmp_path / "r").rglob("*")) == before
    assert len(list((tmp_path / "data/index").glob("*.sqlite"))) == 1


def test_stats_tell_languages_and_what_was_not_parsed(tmp_path: Path) -> None:
    """Names from the repository cannot command the terminal."""
    commit(tmp_path / "r", {**FILES, "red\x1b[31m.js": "var b=2;" * 2000})
    ended = prism_index(tmp_path, "stats", str(tmp_path / "r"))
    assert ended.exit_code == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[0].split() == ["language", "files", "lines", "classes", "functions", "calls"]
    assert [line.split() for line in lines[1:4]] == [
        ["javascript", "3", "3", "0", "1", "0"],
        ["python", "2", "5", "1", "2", "0"],
        ["(not", "parsed)", "1"],
    ]
    assert "only cut into chunks, minified: min.js, red\\x1b[31m.js" in ended.stdout
    assert "\x1b" not in ended.stdout
    assert re.fullmatch(r"store: [1-9]\d* [kM]B, shared by all commits.*", lines[-1])


def test_an_issue_is_ranked(tmp_path: Path) -> None:
    """From a file or from standard input; the method that it names comes first."""
    commit(tmp_path / "r", FILES)
    (tmp_path / "issue.md").write_text(ISSUE)
    repository = str(tmp_path / "r")
    asked = ["rank", repository, "--issue", str(tmp_path / "issue.md"), "--top", "1"]
    ended = prism_index(tmp_path, *asked)
    assert ended.exit_code == 0, ended.stderr
    assert "  1. shop/orders.py  " in ended.stdout
    assert "  1. shop/orders.py:Order.total  " in ended.stdout
    assert "send_mail" not in ended.stdout
    piped = prism_index(tmp_path, "rank", repository, "--top", "1", given=ISSUE)
    assert piped.stdout == ended.stdout


def test_a_query_finds_files_definitions_and_code(tmp_path: Path) -> None:
    """Test code only when asked for; nothing found is told by the exit code too."""
    repository = str(tmp_path / "r")
    commit(tmp_path / "r", {**FILES, "tests/test_total.py": "def total():\n    pass\n"})
    ended = prism_index(tmp_path, "search", repository, "total")
    assert ended.exit_code == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[:2] == ["definitions", "  shop/orders.py:Order.total  lines 2–3"]
    assert "  1 in test code (--tests shows them)" in lines
    with_tests = prism_index(tmp_path, "search", repository, "total", "--tests").stdout
    assert "  tests/test_total.py:total  lines 1–2" in with_tests.splitlines()
    by_path = prism_index(tmp_path, "search", repository, "shop/mail.py").stdout
    assert by_path.splitlines()[:2] == ["files", "  shop/mail.py  (2 lines)"]
    nothing = prism_index(tmp_path, "search", repository, "zzqqxx = 1")
    assert nothing.exit_code == 1
    assert "Nothing in this commit" in nothing.stdout


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    """An unknown commit, no repository, no commit, an empty issue."""
    folder, empty = tmp_path / "r", tmp_path / "empty"
    commit(folder, FILES)
    commit(tmp_path / "bare", {})
    empty.mkdir()
    git(empty, "init", "-q")
    asked = {
        ("build", str(folder), "--commit", "nope"): "has no commit `nope`",
        ("build", str(tmp_path / "none")): "There is no folder",
        ("stats", str(empty)): "has no commit `HEAD`",
        ("rank", str(folder)): "standard input needs the issue's title",
        ("search", str(folder), " "): "The query is empty",
        ("build", str(folder), "--commit", "HEAD:min.js"): "has no commit `HEAD:min.js`",
        ("build", str(folder), "--commit", "--all"): "has no commit `--all`",
        ("build", str(tmp_path / "bare")): "holds no file",
        ("build", str(folder / "README")): "is a file",
    }
    for arguments, expected in asked.items():
        ended = prism_index(tmp_path, *arguments)
        assert ended.exit_code == 2, ended.stdout
        assert expected in ended.stderr


def test_a_repository_without_code_is_indexed(tmp_path: Path) -> None:
    """Its files are found by name; that nothing can be ranked is said."""
    repository = str(tmp_path / "r")
    commit(tmp_path / "r", {"README": "Shop\n", "x.bin": b"\0\1", "tests/test_a.py": "x = 1\n"})
    assert prism_index(tmp_path, "search", repository, "README").exit_code == 0
    ended = prism_index(tmp_path, "rank", repository, given=ISSUE)
    assert ended.exit_code == 1
    assert ended.stdout.startswith("This commit has no source file of a known language")


def test_odd_names_can_be_asked_for(tmp_path: Path) -> None:
    """With newlines, other bytes than UTF-8, links, submodules and pointers beside them."""
    folder = tmp_path / "r"
    names = [
        "new\nline.py",
        "\udcff.py",
        "tab\t.py",
        "-rf.py",
        "a:b.py",
        " sp .py",
        "esc\x1b[31m.py",
    ]
    code: dict[str, str | bytes | None] = {
        name: f"def f{at}():\n    return {at}\n" for at, name in enumerate(names)
    }
    commit(folder, {**code, "lfs.py": "version https://git-lfs.github.com/spec/v1\noid x\n"})
    (folder / "link.py").symlink_to("/etc/passwd")
    git(folder, "add", "-A")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub.py")
    git(folder, "commit", "-q", "-m", "odd")
    assert "LFS pointer: lfs.py" in prism_index(tmp_path, "stats", str(folder)).stdout
    for at, name in enumerate(names):
        ended = prism_index(tmp_path, "search", str(folder), f"f{at}")
        assert (ended.exit_code, ended.stdout.count("lines 1–2")) == (0, 1), ended.stderr
        shown = quoted(name)
        assert f"  {shown}:f{at}  lines 1–2" in ended.stdout.splitlines()
        for asked in (name, shown):
            found = prism_index(tmp_path, "search", str(folder), "--", asked)
            assert found.stdout.splitlines()[:2] == ["files", f"  {shown}  (2 lines)"]
        ranked = prism_index(tmp_path, "rank", str(folder), given=f"f{at} fails\n")
        assert ranked.exit_code == 0
        assert f"  1. {shown}:f{at}  " in ranked.stdout
        assert ranked.stdout.replace("\n", "").isprintable()
    for name in ("link.py", "sub.py"):
        assert prism_index(tmp_path, "search", str(folder), name).exit_code == 1


def test_branches_and_tags_name_commits(tmp_path: Path) -> None:
    """Those of the folder, from below it too; nothing is fetched or written."""
    head = commit(tmp_path / "r", FILES)
    git(tmp_path / "r", "tag", "-a", "v1", "-m", "one")
    git(tmp_path / "r", "branch", "stable")
    commit(tmp_path / "r", {"later.py": "x = 1\n"})
    for name in ("v1", "stable", head[:12], "main~1", "HEAD~1"):
        for folder in (tmp_path / "r", tmp_path / "r/shop"):
            ended = prism_index(tmp_path, "build", str(folder), "--commit", name)
            assert ended.stdout.startswith(f"{head[:12]}: 5 files"), ended.stderr


def test_a_damaged_store_is_told(tmp_path: Path) -> None:
    """With the file to remove."""
    commit(tmp_path / "r", FILES)
    prism_index(tmp_path, "build", str(tmp_path / "r"))
    (store,) = (tmp_path / "data/index").glob("*.sqlite")
    for path in (tmp_path / "data/index").iterdir():
        path.unlink()
    store.write_bytes(b"no database at all, but something else")
    ended = prism_index(tmp_path, "build", str(tmp_path / "r"))
    assert ended.exit_code == 2
    assert f"Error: The code index {store} cannot be used" in ended.stderr
