"""Every line of the patch policy, and that nothing makes it fail or slow."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.evidence.policy import check_patch
from sandbox.patch.limits import MAX_BYTES, MAX_FILES
from sandbox.patch.patch import combine

MODIFIED = (
    "index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222"
)


def change(path: str, added: str = "x = 1\n", removed: str = "x = 0\n") -> str:
    """A patch that changes lines of an existing file."""
    plus = "".join("+" + line for line in added.splitlines(keepends=True))
    minus = "".join("-" + line for line in removed.splitlines(keepends=True))
    counts = f"-1,{len(removed.splitlines())} +1,{len(added.splitlines())}"
    head = f"diff --git a/{path} b/{path}\n{MODIFIED} 100644\n--- a/{path}\n+++ b/{path}\n"
    return f"{head}@@ {counts} @@\n{minus}{plus}"


def deletion(path: str) -> str:
    """A patch that deletes a file of one line."""
    head = f"diff --git a/{path} b/{path}\ndeleted file mode 100644\n{MODIFIED}\n"
    return f"{head}--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 0\n"


def modes(path: str, *lines: str) -> str:
    """A patch whose headers are `lines`."""
    return "\n".join((f"diff --git a/{path} b/{path}", *lines, ""))


def move(kind: str, old: str, new: str) -> str:
    """A patch that renames or copies a file and changes nothing in it."""
    head = f"diff --git a/{old} b/{new}\nsimilarity index 100%\n"
    return f"{head}{kind} from {old}\n{kind} to {new}\n"


SUBMODULE = modes(
    "x", "index 1111111..2222222 160000", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"
)
BOMB = modes(
    "x", "new file mode 100644", "index 0000000..1111111", "GIT binary patch", "literal 629145600",
    "abc", "", "literal 0", "HcmV?d00001", "",
)  # fmt: skip
GOOD = change("pkg/core.py", "def f():\n    return 2\n", "def f():\n    return 1\n")


@pytest.mark.parametrize(
    "patch",
    [
        GOOD,
        change(".gitignore", "*.pyc\n"),
        change("docs/.gitignore", "*.pyc\n"),
        change("pkg/github.py"),
        change("pkg/console.py"),
        change("src/hooks/use-agent.ts"),
        change("docs/pre-commit.md"),
        change("pkg/config/docker.py"),
        change("docs/über-ß.md"),
        change("pkg/x~10.txt.bak"),
        change("app/tasks.py"),
        change("pkg/a.py", "import os\nfrom os import path, environ\nos.path.join(a)\n", ""),
        combine(
            "", {"tests/test_new.py": "import pkg\n\ndef test_f():\n    assert pkg.f() == 2\n"}
        ),
        change("pkg/a.py", "url = 'http://localhost:80/' + 'https://api.example.com'\n"),
        change("pkg/a.py", "subprocess.run(a, b)\n", "subprocess.run(a)\n"),
        change("pkg/a.py", "p = re.compile(x)\nself.eval(x)\n"),
        change("README.md", "use subprocess and eval(x) ❤️ é\n"),
        deletion("pkg/old.py"),
    ],
)
def test_an_honest_patch_passes(patch: str) -> None:
    """Ordinary changes are neither refused nor held."""
    verdict = check_patch(patch)
    assert (verdict.refused, verdict.held) == ((), ())


REFUSED_PATHS = """
.github/workflows/ci.yml .github/x sub/.github/x .GitHub/x .gitlab-ci.yml .gitlab/x
.circleci/config.yml .travis.yml azure-pipelines.yml Jenkinsfile appveyor.yml .drone.yml
bitbucket-pipelines.yml .buildkite/x .ci/run .cirrus.yml .woodpecker/a.yml buildspec.yml
.git/config sub/.git/hooks/x .gitattributes .gitmodules .gitconfig .gitkeep .gitignore/x
CODEOWNERS docs/CODEOWNERS .husky/pre-commit .githooks/x .pre-commit-config.yaml lefthook.yml
CLAUDE.md AGENTS.md sub/agents.md GEMINI.md .claude/x .cursor/rules .cursorrules .mcp.json
.github/copilot-instructions.md copilot-instructions.md .devcontainer/x .devcontainer.json
.vscode/tasks.json .npmrc sub/.npmrc .yarnrc .yarnrc.yml pip.conf .pypirc .netrc /etc/passwd
../x a/../x a/.. ./x a/./x a//x C:/x ~/x a\\\\x git~1/x GIT~1/config .git./x .git::$INDEX/x
gi7eba~1/x con NUL.txt aux.c sub/COM1.py lpt9 name. a/b?c x<y
prek.toml .config/mise/config.toml .config/dotnet-tools.json dotnet-tools.json
gradle/wrapper/gradle-wrapper.jar hooks/pre-commit .hooks/pre-commit githooks/x x/commit-msg
.dependabot/config.yml dependabot.yml .agent/rules.md .openhands_instructions .devin/x .jules/x
.coderabbit.yaml .sourcery.yaml .ssh/authorized_keys .docker/config.json .aws/credentials
node_modules/x/index.js web/Node_Modules/x.js .cnb.yml .dagger/x .venv/bin/x
.openhands/setup.sh .prism/x mise.toml .mise.toml .hg/hgrc .bashrc .gdbinit sub/.direnv/x
.huskyrc.js .lintstagedrc.cjs lint-staged.config.js x.code-workspace a/b.instructions.md
.vſcode/tasks.json .VSCODE/x ．git/config .ｇit/config .gıthub/x ＣLAUDE.md
GITMOD~1 CLAUDE~1/x github~12/x NPMRC~1 sub/A／b a/․․/x
""".split()  # noqa: SIM905 (a table of names, one glance)


@pytest.mark.parametrize(
    "path", [*REFUSED_PATHS, "a b /x", ".git /x", "x" * 256, "d/" * 127 + "éé"]
)
@pytest.mark.parametrize("make", [change, deletion])
def test_a_forbidden_path_is_refused(path: str, make: type) -> None:
    """Changing or deleting such a file is refused, and the reason names it."""
    verdict = check_patch(quoted(path) if "\\" in path else make(path))
    assert verdict.refused
    assert not verdict.ok
    assert all(reason.endswith(".") for reason in verdict.refused)


def quoted(path: str) -> str:
    """A new file with a name that git puts in quotes."""
    return f'diff --git "a/{path}" "b/{path}"\nnew file mode 100644\nindex 0000000..e69de29\n'


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("a\\nb.py", "control"),
        ("a\\033b.py", "control"),
        ("a\\302\\200.py", "control"),
        ("\\377.py", "UTF-8"),
        ("a\\342\\200\\256b.py", "invisible"),
        ("a\\342\\200\\213.py", "invisible"),
        ('a\\"b.py', "Windows"),
        ("a\\\\b.py", "backslash"),
        (".gi\\342\\200\\214t/config", "invisible"),
    ],
)
def test_a_hostile_name_is_refused_and_shown_safely(name: str, rule: str) -> None:
    """Names nobody can read are refused, and the reason itself is printable."""
    (reason, *_) = check_patch(quoted(name)).refused
    assert rule in reason
    assert reason.isprintable()


@pytest.mark.parametrize(
    ("patch", "rule"),
    [
        ("", "empty"),
        (" \n\n", "empty"),
        ("nonsense\n", "cannot be read"),
        (GOOD[:-1], "cannot be read"),
        (GOOD.replace("return", "\udce9"), "UTF-8"),
        (GOOD + GOOD, "twice"),
        (change("a/B.py") + change("a/b.py"), "by case only"),
        (combine("", {"x.py": "x" * 5_001 + "\n"}), "longer than 5000"),
        (combine("", {f"f{n}.py": "" for n in range(MAX_FILES + 1)}), "more than 100"),
        (combine("", {"x.py": "x = 1\n" * (MAX_BYTES // 6)}), "256 KB"),
        (combine("", {"x.py": "\n" * 20_001}), "20000 lines"),
        (combine("", {"x.py": "é\n" * (MAX_BYTES // 3)}), "256 KB"),
        (modes("x", "new file mode 120000", "index 0000000..1111111"), "symbolic"),
        (modes("x", "deleted file mode 120000", "index 1111111..0000000"), "symbolic"),
        (modes("x", "old mode 100644", "new mode 120000"), "symbolic"),
        (modes("x", "new file mode 160000", "index 0000000..1111111"), "submodules"),
        (SUBMODULE, "submodules"),
        (modes("x", "new file mode 100755", "index 0000000..e69de29"), "executable"),
        (modes("x", "old mode 100644", "new mode 100755"), "executable"),
        (modes("x", "new file mode 100600", "index 0000000..e69de29"), "mode"),
        (modes("x", "new file mode 040000", "index 0000000..e69de29"), "mode"),
        (modes("x", "index 1111111..2222222 100644", "Binary files a/x and b/x differ"), "binary"),
        (BOMB, "binary"),
        (move("rename", "x.py", ".github/x.py"), ".github"),
        (move("rename", ".github/x.py", "x.py"), ".github"),
        (move("rename", "a.py", "b.py"), "rename"),
        (move("copy", "a.py", "b.py"), "copy"),
    ],
)  # fmt: skip
def test_a_forbidden_shape_is_refused(patch: str, rule: str) -> None:
    """Links, modes, binaries, moves, sizes and unreadable text are refused by name."""
    assert any(rule in reason for reason in check_patch(patch).refused)


@pytest.mark.parametrize(
    "code",
    [
        *(0x200B, 0x200C, 0x200D, 0x200E, 0x202A, 0x202E, 0x2066, 0x2069, 0x2060, 0xFEFF, 0x00AD),
        *(0x061C, 0x180E, 0x3164, 0xFE00, 0xE0001, 0xE0041, 0xE0100, 0x2028, 0x2029, 0x115F),
        *(0x00, 0x08, 0x0B, 0x1B, 0x7F, 0x9B),
    ],
)
def test_a_character_nobody_sees_is_refused(code: int) -> None:
    """In an added line it is refused; on its way out it is not."""
    hidden = f"x = 'a{chr(code)}b'"
    patch = f"{MODIFIED} 100644\n--- a/p.py\n+++ b/p.py\n@@ -1 +1 @@\n-{{}}\n+{{}}\n"
    patch = "diff --git a/p.py b/p.py\n" + patch
    assert check_patch(patch.format("x = 0", hidden)).refused
    assert not check_patch(patch.format(hidden, "x = 0")).refused


def test_a_lone_carriage_return_is_refused() -> None:
    """It hides the start of the line in a terminal; at the line's end it is a line end."""
    assert check_patch(combine("", {"p.py": "x = 1\ry = 2\n"})).refused
    assert not check_patch(combine("", {"p.py": "x = 1\r\ny = 2\r\n"})).refused


HELD_PATHS = """
package.json pyproject.toml sub/setup.cfg requirements.txt requirements-dev.txt Cargo.toml
go.mod Gemfile package-lock.json yarn.lock poetry.lock uv.lock Cargo.lock go.sum setup.py
build.rs Makefile Dockerfile docker/Dockerfile.dev conftest.py tests/conftest.py tox.ini
noxfile.py pytest.ini webpack.config.js jest.config.ts x.gemspec lib.csproj evil.pth
sitecustomize.py action.yml sub/action.yaml .eslintrc.js .eslintrc eslint.config.mjs gradlew
gradlew.bat mvnw gradle/wrapper/gradle-wrapper.properties x.gradle buildSrc/src/A.kt .pylintrc
mypy.ini tsconfig.json tsconfig.build.json .nvmrc .tool-versions Makefile.am prettier.config.js
.prettierrc.cjs flake.nix .rspec phpunit.xml.dist .env .env.local ｍakefile rules.bzl
""".split()  # noqa: SIM905 (a table of names, one glance)


@pytest.mark.parametrize("path", HELD_PATHS)
def test_a_file_that_runs_at_build_time_waits_for_a_person(path: str) -> None:
    """Manifests, lock files and build scripts are held, not refused: the work is kept."""
    verdict = check_patch(change(path))
    assert verdict.ok
    assert any(path in reason for reason in verdict.held)


@pytest.mark.parametrize(
    ("added", "rule"),
    [
        ("import subprocess\n", "other programs"),
        ("os.system(cmd)\n", "other programs"),
        ("run(cmd, shell=True)\n", "other programs"),
        ("eval(text)\n", "evaluates"),
        ("exec (text)\n", "evaluates"),
        ("new Function(text)\n", "evaluates"),
        ("from os import system\n", "other programs"),
        ("from os import (\n    path,\n    popen,\n)\n", "other programs"),
        ("from os import *\n", "other programs"),
        ("import os as o\n", "other programs"),
        ("system(cmd)\n", "other programs"),
        ("out, err := exec.Command(a).Output()\n", "other programs"),
        ("importlib.__import__(name)\n", "evaluates"),
        ("builtins.eval(text)\n", "evaluates"),
        ("from builtins import exec as run\n", "evaluates"),
        ("getattr(os, 'sys' + 'tem')(cmd)\n", "evaluates"),
        ("__builtins__['eval'](text)\n", "evaluates"),
        ("importlib.util.spec_from_file_location(a, b)\n", "evaluates"),
        ("pickle.loads(data)\n", "serialised"),
        ("from marshal import loads\n", "serialised"),
        ("yaml.load(text)\n", "serialised"),
        ("import requests\n", "network"),
        ("from urllib.request import urlopen\n", "network"),
        ("const h = require('https')\n", "network"),
        ("import x from 'node:net'\n", "network"),
        ("fetch(url)\n", "network"),
        ("socket.socket()\n", "network"),
        ("get(url, verify=False)\n", "safety"),
        ("u = 'https://evil.net/x'\n", "evil.net"),
        ("u = 'http://user:pw@evil.net:80'\n", "evil.net"),
    ],
)
def test_a_risky_line_waits_for_a_person(added: str, rule: str) -> None:
    """New network, evaluation, process or deserialising code is held, and so are new hosts."""
    patch = change("pkg/a.py", added, "pass\n")
    assert any(rule in reason for reason in check_patch(patch).held)
    same = change("pkg/a.py", added + "x = 1\n", added + "x = 0\n")
    assert not any(rule in reason for reason in check_patch(same).held)


@pytest.mark.parametrize(
    ("patch", "rule"),
    [
        (change("yarn.lock", "r 'https://evil.net/a.tgz'\n", "r 'https://r.yarnpkg.com/a.tgz'\n"),
         "new host evil.net"),
        (deletion("tests/test_a.py"), "deletes a test"),
        (deletion("src/a.test.ts"), "deletes a test"),
        (change("tests/test_a.py", "pass\n", "assert x\n"), "assertion"),
        (change("tests/test_a.py", "pass\n", "def test_b():\n    pass\n"), "removes a test"),
        (change("tests/test_a.py", "@pytest.mark.skip\nx\n", "x\n"), "skips"),
        (change("test/a.js", "it.only('a', f)\n", "it('a', f)\n"), "skips"),
        (modes("x.sh", "old mode 100755", "new mode 100644"), "mode"),
        (change("a.py", "x = 0\r\n", "x = 0\n"), "line ends"),
        (combine("", {f"f{n}.txt": "a\n" for n in range(21)}), "21 files"),
        (combine("", {"a.txt": "a\n" * 801}), "801 lines"),
    ],
)  # fmt: skip
def test_a_weakened_test_or_a_large_patch_waits_for_a_person(patch: str, rule: str) -> None:
    """Held, with the reason, and still allowed as a draft."""
    verdict = check_patch(patch)
    assert verdict.ok
    assert any(rule in reason for reason in verdict.held)


SEEDS = (
    "gh", "ghp_", "eyJ", "eyJ.", "-----BEGIN ", "AKIA", "sk-", "a@", "://", "http://a", '"',
    " ", "\\", "import ", "os.", "assert ", "def test", "it.only(", "A", "Zm9v", "\u200b", "é",
    "xoxb-1", "1", "aws_secret_access_key", "subprocess", "eval(", "\t", "\r", "=", "'+'",
    "ghs_.", "SG.", "hooks.slack.com/", ":AA", "eval ", "expect (", "from os import ",
    "from os import a,", "literal 9", "getattr(", "\uff0e",
)  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("width", [1, 20, 80, 4_900, 10**7])
def test_no_input_is_slow(seed: str, width: int) -> None:
    """Text made to upset regular expressions takes linear time: a tenth of the limit here."""
    line = seed * max(1, width // len(seed))
    size = len(line.encode()) + 2
    text = (line + "\n") * max(1, min(19_000, (MAX_BYTES - 4_000) // size))
    patch = combine("", {"tests/test_x.py": text})
    assert cost_of(patch) < 1.0


def cost_of(patch: str) -> float:
    """Seconds of processor time of one check."""
    start = time.process_time()
    check_patch(patch)
    return time.process_time() - start


def test_many_small_files_are_not_slow() -> None:
    """Ten thousand renames are refused before anything is looked at."""
    for count in (3_000, 10_000):
        assert cost_of("".join(move("rename", f"{n}", f"b{n}") for n in range(count))) < 1.0


@given(
    st.text() | st.text('diff -gtab/+@01,\n\\"_.') | st.binary().map(lambda b: b.decode("latin-1"))
)
@example("\ud800")
@example('diff --git "a/\ud800" "b/\ud800"\n')
@example("diff --git a/\ud800 b/\ud800\nnew file mode 100644\n")
def test_any_text_gets_a_verdict(text: str) -> None:
    """Nothing raises, and what is not a patch is refused."""
    assert check_patch(text).refused or text.startswith("diff --git ")


@given(
    st.text(st.characters(exclude_characters="\n\r"), min_size=1, max_size=80),
    st.text(max_size=200),
)
def test_any_new_file_gets_a_verdict(path: str, text: str) -> None:
    """Whatever name and text a candidate invents, there is a verdict with printable reasons."""
    try:
        patch = combine("", {path: text})
    except UnicodeEncodeError:
        return
    verdict = check_patch(patch)
    assert all(reason.isprintable() for reason in verdict.refused + verdict.held)
