"""Files, snapshots and patches, the same on both backends."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox.base import Command, Environment, EnvironmentPlan, Sandbox, Workspace
from sandbox.docker import DockerSandbox
from sandbox.errors import FileNotFound, NotAllowed, SandboxError
from sandbox.process import ProcessSandbox

Ready = tuple[Sandbox, Environment]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def plain(shop, shop_plan: EnvironmentPlan, tmp_path_factory) -> Ready:
    """The small project in the process backend."""
    sandbox = ProcessSandbox(data_dir=tmp_path_factory.mktemp("data"), allow=True)
    return sandbox, await sandbox.prepare(shop, shop_plan, "run-1")


@pytest.fixture(params=[pytest.param("docker", marks=pytest.mark.engine), "plain"])
def ready(request: pytest.FixtureRequest) -> Ready:
    """Each backend in turn."""
    if request.param == "plain":
        return request.getfixturevalue("plain")
    docker: DockerSandbox = request.getfixturevalue("docker")
    return docker, request.getfixturevalue("prepared")


@pytest.fixture
async def tree(ready: Ready) -> AsyncIterator[Workspace]:
    """A fresh workspace."""
    sandbox, environment = ready
    async with sandbox.workspace(environment, "candidate", "run-1") as workspace:
        yield workspace


CHANGES = """
set -e
echo 'X = 1' > src/shop/new.py; mkdir -p 'deep er/ä'; echo new > 'deep er/ä/file'
rm data/logo.bin; printf 'more' >> no-newline.txt; chmod -x tools/run.sh
printf 'MORE\\r\\n' >> src/shop/windows.py
printf 'caf\\351\\n' > latin.txt; printf '\\000\\001\\377' > data/new.bin
echo ignored > x.tmp; mkdir -p __pycache__; echo x > __pycache__/a.pyc; echo more >> build/left-over
"""


async def test_untouched_tree_has_no_patch(tree: Workspace) -> None:
    """What the set-up left behind – ignored or not – is no change."""
    assert (await tree.exec(Command("test -f build/left-over"))).ok
    assert await tree.diff() == ""


async def test_patch_round_trip(ready: Ready, tree: Workspace) -> None:
    """apply after diff is identity: additions, deletions, bytes, modes, missing newlines."""
    assert (await tree.exec(Command(CHANGES))).ok
    patch = await tree.diff()
    assert "tools/run.sh\nold mode 100755\nnew mode 100644" in patch
    for absent in ("x.tmp", "__pycache__", "left-over"):
        assert absent not in patch
    sandbox, environment = ready
    async with sandbox.workspace(environment, "verify", "run-1") as fresh:
        assert (await fresh.apply(patch)).ok
        assert await fresh.diff() == patch
        assert (await fresh.exec(Command("cat latin.txt | od -An -c"))).output.split()[3] == "351"


async def test_patch_that_does_not_apply(tree: Workspace) -> None:
    """Not even the hunks that would fit are applied."""
    await tree.write("tests/new.txt", "a\n")
    await tree.exec(Command("echo changed > no-newline.txt"))
    patch = await tree.diff()
    await tree.exec(Command("rm tests/new.txt"))
    result = await tree.apply(patch)
    assert not result.ok
    assert "no-newline.txt: patch does not apply" in result.output
    with pytest.raises(FileNotFound):
        await tree.read("tests/new.txt")


async def test_empty_patch_applies(tree: Workspace) -> None:
    """No change is a change that always fits."""
    assert (await tree.apply("")).ok


async def test_snapshots(tree: Workspace) -> None:
    """Restoring brings back changed and deleted files and removes new ones, in any order."""
    await tree.write("notes.txt", "one")
    first = await tree.snapshot()
    await tree.exec(Command("rm no-newline.txt; echo two > notes.txt; echo x > more.txt"))
    second, patch = await tree.snapshot(), await tree.diff()
    await tree.restore(first)
    assert await tree.read("notes.txt") == "one"
    assert await tree.read("no-newline.txt") == "no end"
    assert (await tree.exec(Command("test ! -e more.txt && test -f build/left-over"))).ok
    await tree.restore(second)
    assert await tree.diff() == patch
    with pytest.raises(SandboxError, match="no such snapshot"):
        await tree.restore("0" * 40)


async def test_read_and_write(tree: Workspace) -> None:
    """Text comes back byte for byte; folders are made; bytes that are no text are refused."""
    text = "ä\r\nline\n\ttab \\ ' \" $HOME"
    await tree.write("a/b/c.txt", text)
    assert await tree.read("a/b/c.txt") == text
    assert await tree.read(f"{tree.path}/a/b/c.txt") == text
    with pytest.raises(NotAllowed, match="not UTF-8"):
        await tree.read("data/logo.bin")
    with pytest.raises(FileNotFound, match="no file nothing"):
        await tree.read("nothing")
    with pytest.raises(FileNotFound):
        await tree.read("src")
    await tree.exec(Command("head -c 1000001 /dev/zero > big"))
    with pytest.raises(NotAllowed, match="larger than 1 MB"):
        await tree.read("big")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("no-newline.txt/x", "File exists|Not a directory"),
        ("n" * 300, "File name too long"),
        ("d" * 300 + "/x", "File name too long"),
        ("loop/x", "Too many levels"),
    ],
)
async def test_path_the_system_refuses(tree: Workspace, path: str, why: str) -> None:
    """A path that cannot be one is refused with the reason; the workspace goes on."""
    await tree.exec(Command("ln -s loop loop"))
    with pytest.raises(NotAllowed, match=why):
        await tree.write(path, "text")
    with pytest.raises(FileNotFound):
        await tree.read(path)
    await tree.write("fine.txt", "text")


@pytest.mark.engine
async def test_folder_without_permission(workspace: Workspace) -> None:
    """A folder that takes no file and a file that cannot be read are refused with the reason."""
    await workspace.exec(Command("mkdir shut; echo x > closed; chmod 555 shut; chmod 0 closed"))
    with pytest.raises(NotAllowed, match="Permission denied"):
        await workspace.write("shut/file", "text")
    with pytest.raises(NotAllowed, match="Permission denied"):
        await workspace.write("closed", "text")
    with pytest.raises(NotAllowed, match="Permission denied"):
        await workspace.read("closed")


async def test_line_too_long(tree: Workspace) -> None:
    """What the kernel could not take is refused before it runs, with what to do instead."""
    with pytest.raises(NotAllowed, match="Write the text to a file"):
        await tree.exec(Command(f"echo {'ä' * 70_000}"))
    with pytest.raises(NotAllowed, match="NUL"):
        await tree.exec(Command("echo \0"))
    with pytest.raises(NotAllowed, match="longer than any path"):
        await tree.read("d/" * 70_000 + "x")
    run = await tree.test(tuple(f"tests/{'n' * 100}{n}.py" for n in range(2000)))
    assert run.results == {}
    assert "name fewer" in run.output
    assert (await tree.exec(Command(f"echo {'x' * 119_000} | wc -c"))).output == "119001\n"


LEFT_BEHIND = {
    "closed folder": "mkdir -p odd/in; echo x > odd/in/file; chmod 0 odd/in odd",
    "folder without write": "mkdir odd; echo x > odd/file; chmod 555 odd",
    "closed file": "mkdir odd; echo x > odd/file; chmod 0 odd/file",
    "tracked folder": "mkdir odd; touch odd/file; chmod 0 src/shop",
    "empty repository": "mkdir odd; echo x > odd/file; git init -q odd",
    "bad repository": "mkdir odd; echo x > odd/file; git init -q odd; echo > odd/.git/HEAD",
    "repository": "mkdir odd; touch odd/file; cd odd; git init -q; git add .; git commit -qm 1",
    "pipe": "mkdir odd; touch odd/file; mkfifo odd/pipe",
    "loop": "mkdir odd; touch odd/file; ln -s loop odd/loop",
}


@pytest.mark.parametrize("line", LEFT_BEHIND.values(), ids=LEFT_BEHIND.keys())
async def test_odd_files_left_behind(tree: Workspace, line: str) -> None:
    """Whatever a suite leaves, the patch shows the rest and restoring brings the tree back."""
    name = "git config --global user.name a; git config --global user.email a@localhost; "
    clean = await tree.snapshot()
    assert (await tree.exec(Command(name + line))).ok
    await tree.write("fix.txt", "fixed\n")
    patch = await tree.diff()
    assert "+fixed" in patch
    assert "odd" in patch
    assert (
        await tree.exec(Command(f"cd {tree.path} && chmod -R u+w odd && rm -rf odd && {line}"))
    ).ok
    odd = await tree.snapshot()
    await tree.restore(clean)
    assert await tree.diff() == ""
    assert (await tree.exec(Command("test ! -e odd"))).ok
    await tree.restore(odd)
    assert "+fixed" in await tree.diff()


async def test_fork(tree: Workspace) -> None:
    """A fork goes on from a snapshot in a copy of its own, with the memory as it was."""
    await tree.write("notes.txt", "one")
    first = await tree.snapshot()
    await tree.exec(Command("printf 'caf\\351' > latin.txt; rm data/logo.bin; echo 2 > notes.txt"))
    tree.memory.put("plan", {"steps": [1]})
    patch = await tree.diff()
    async with tree.fork() as child:
        tree.memory.put("plan", None)
        assert child.memory.get("plan") == {"steps": [1]}
        assert await child.diff() == patch
        await child.write("own.txt", "of the child")
        await child.restore(first)
        assert await child.read("notes.txt") == "one"
        own = await child.snapshot()
        async with child.fork(first) as grandchild:
            assert await grandchild.read("notes.txt") == "one"
        await child.write("notes.txt", "three")
        await child.restore(own)
    assert await tree.diff() == patch
    with pytest.raises(SandboxError, match="no such snapshot"):
        async with tree.fork("0" * 40):
            pass


async def test_lock_of_an_ended_git(plain: Ready) -> None:
    """A lock that the harness's own git left when it was ended stops nothing."""
    sandbox, environment = plain
    async with sandbox.workspace(environment, "candidate", "run-1") as tree:
        clean = await tree.snapshot()
        folder = "$(dirname $PWD)/git"
        locks = f"touch {folder}/own/index.lock {folder}/refs/prism/{clean}.lock"
        assert (await tree.exec(Command(locks))).ok
        await tree.write("fix.txt", "fixed\n")
        await tree.snapshot()
        assert (await tree.exec(Command(locks))).ok
        await tree.restore(clean)
        assert await tree.diff() == ""


async def test_plan_with_directory_and_variables(ready: Ready) -> None:
    """Tests run in the plan's folder; its variables are there for tests and for commands."""
    sandbox, environment = ready
    plan = replace(
        environment.plan,
        test="test $WHO = me && basename $PWD && ls",
        runner="exit_code",
        directory="tests",
        variables=(("WHO", "me"),),
    )
    async with sandbox.workspace(replace(environment, plan=plan), "verify", "run-1") as tree:
        run = await tree.test()
        assert dict(run.results) == {"suite": "pass"}
        assert run.output.startswith("tests\ntest_total.py\n")
        assert (await tree.exec(Command("echo $WHO; basename $PWD"))).output.startswith("me\n")
        await tree.exec(Command("rm -rf tests"))
        assert (await tree.test()).results == {}
    plan = replace(environment.plan, directory="tests", variables=(("PYTEST_ADDOPTS", "-rp"),))
    async with sandbox.workspace(replace(environment, plan=plan), "verify", "run-1") as tree:
        run = await tree.test(("tests/test_total.py",))
        assert sorted(run.results.values()) == ["fail", "pass"]
        assert "PASSED test_total.py::test_total" in run.output.replace("tests/", "")


async def test_repository_of_the_setup_stays(tree: Workspace) -> None:
    """A nested repository in an ignored folder is the suite's own business."""
    await tree.exec(Command("mkdir build/own; git init -q build/own"))
    await tree.snapshot()
    assert await tree.diff() == ""
    assert (await tree.exec(Command("test -e build/own/.git/HEAD"))).ok


async def test_command(tree: Workspace) -> None:
    """Exit code, both streams, standard input and variables."""
    line = "cat; echo err >&2; echo $A; pwd; exit 3"
    result = await tree.exec(Command(line, stdin=b"in\n" * 50_000, env={"A": "b"}))
    assert result.exit_code == 3
    assert result.truncated
    assert result.output.endswith(f"err\nb\n{tree.path}\n")


async def test_agents_can_use_git(tree: Workspace) -> None:
    """The tree is a repository of its own with the base as its only commit."""
    await tree.write("no-newline.txt", "changed")
    result = await tree.exec(Command("git status --short && git log --oneline | wc -l"))
    assert result.output == " M no-newline.txt\n1\n"


async def test_suite_and_targets(tree: Workspace) -> None:
    """A fix shows in the suite; a target runs alone; a suite that cannot start is no pass."""
    await tree.write("src/shop/__init__.py", "def total(p):\n    return sum(p[1:], p[0])\n")
    await tree.write(
        "src/shop/__init__.py",
        "def total(p):\n    first, *rest = p\n    for one in rest:\n        first = first + one\n"
        "    return first\n",
    )
    run = await tree.test()
    assert set(run.results.values()) == {"pass"}
    assert len(run.results) == 2
    target = "tests/test_total.py::TestWords::test_join"
    assert dict((await tree.test((target,))).results) == {target: "pass"}
    assert (await tree.test(("tests/none.py",))).results == {}
    await tree.write("src/shop/__init__.py", "syntax error\n")
    assert dict((await tree.test()).results) == {"tests/test_total.py": "error"}
    assert await tree.exec(Command("ls .pytest_cache")) is not None
    assert "pytest_cache" not in await tree.diff()


async def test_a_report_of_any_size_is_no_pass(tree: Workspace) -> None:
    """A report that is too large to be read is a broken one: no verdict, whatever the exit."""
    await tree.write(
        "conftest.py",
        "import atexit, os\n"
        "path = os.environ['PYTEST_ADDOPTS'].split('junitxml=')[1].split()[0]\n"
        "atexit.register(lambda: open(path, 'ab').truncate(40_000_000))\n"
        "def pytest_sessionfinish(session): session.exitstatus = 0\n",
    )
    assert (await tree.test(("tests/test_total.py::test_total",))).results == {}


async def test_module_lies_in_the_workspace(tree: Workspace) -> None:
    """The project that is imported is this workspace's, and still known as installed."""
    code = "import shop, importlib.metadata as m; print(shop.__file__, m.version('shop'))"
    result = await tree.exec(Command(f'cd / && python -c "{code}"'))
    assert result.output.split() == [f"{tree.path}/src/shop/__init__.py", "1.0"]


def test_process_backend_needs_permission(tmp_path: Path) -> None:
    """Nothing runs unisolated unless the caller says that it may."""
    with pytest.raises(NotAllowed, match="does not isolate"):
        ProcessSandbox(data_dir=tmp_path, allow=False)
