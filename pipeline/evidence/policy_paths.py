"""The patch policy for names: which paths are refused, which are held. Pure.

Source: reliability.md §6.8. Names are compared in lower case and anywhere in the tree, because a
nested copy of such a file is read by the same tools.
"""

import re

MAX_PATH_BYTES = 255

_CI = "it configures continuous integration"
_HOOKS = "it configures commit hooks"
_AGENTS = "it instructs coding agents"
_EDITOR = "it configures an editor or a development container"
_PACKAGES = "it configures a package manager"
_MANIFEST = "a manifest"
_LOCK = "a lock file"
_BUILD = "a build or test script"


def _table(**rows: str) -> dict[str, str]:
    reasons = {
        "ci": _CI,
        "hooks": _HOOKS,
        "agents": _AGENTS,
        "editor": _EDITOR,
        "packages": _PACKAGES,
        "manifest": _MANIFEST,
        "lock": _LOCK,
        "build": _BUILD,
        "owners": "it says who must review",
    }
    return {name: reasons[kind] for kind, names in rows.items() for name in names.split()}


REFUSED_FOLDERS = _table(
    ci=".ci .circleci .buildkite .drone .semaphore .teamcity .tekton .travis .woodpecker"
    " .forgejo .gitea .builds .azuredevops .azure-pipelines zuul.d .zuul.d",
    hooks=".husky .lefthook",
    agents=".claude .cursor .codex .gemini .windsurf .roo .continue .junie .kiro .aider .agents"
    " .clinerules .amazonq .augment .trae .qwen",
    editor=".devcontainer .vscode .idea .zed",
    packages=".cargo .yarn .bundle .mvn .pip",
)
REFUSED_FILES = _table(
    ci=".travis.yml .travis.yaml appveyor.yml .appveyor.yml azure-pipelines.yml"
    " azure-pipelines.yaml jenkinsfile .drone.yml .drone.yaml .drone.star .woodpecker.yml"
    " .woodpecker.yaml bitbucket-pipelines.yml .cirrus.yml .cirrus.star cloudbuild.yaml"
    " cloudbuild.yml buildspec.yml wercker.yml .build.yml .zuul.yaml zuul.yaml"
    " .scrutinizer.yml circle.yml codemagic.yaml bitrise.yml renovate.json renovate.json5"
    " .renovaterc .renovaterc.json .mergify.yml",
    owners="codeowners",
    hooks=".pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml lefthook.yml"
    " .lefthook.yml lefthook.yaml .lefthook.yaml .huskyrc .huskyrc.json .lintstagedrc"
    " .lintstagedrc.json .overcommit.yml",
    agents="claude.md claude.local.md agents.md agents.override.md agent.md gemini.md qwen.md"
    " .mcp.json mcp.json copilot-instructions.md .cursorrules .cursorignore .windsurfrules"
    " .clinerules .goosehints .roomodes .roorules .aider.conf.yml opencode.json",
    editor=".devcontainer.json devcontainer.json .dir-locals.el .exrc .nvimrc .vimrc",
    packages=".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pip.conf pip.ini .pypirc .netrc _netrc"
    " .envrc uv.toml bunfig.toml .curlrc .wgetrc .condarc .gemrc nuget.config",
)
HELD_FILES = _table(
    manifest="package.json pyproject.toml setup.cfg pipfile cargo.toml go.mod go.work gemfile"
    " composer.json pom.xml build.gradle build.gradle.kts settings.gradle"
    " settings.gradle.kts environment.yml environment.yaml mix.exs deno.json deno.jsonc"
    " bower.json project.clj pubspec.yaml build.sbt package.swift manifest.in lerna.json"
    " pnpm-workspace.yaml meta.yaml conanfile.txt conanfile.py vcpkg.json",
    lock="package-lock.json npm-shrinkwrap.json pnpm-lock.yaml bun.lockb go.sum go.work.sum"
    " packages.lock.json gradle.lockfile package.resolved conda-lock.yml",
    build="setup.py build.rs makefile gnumakefile dockerfile containerfile .dockerignore"
    " docker-compose.yml docker-compose.yaml compose.yml compose.yaml conftest.py tox.ini"
    " pytest.ini .pytest.ini pytest.toml noxfile.py dodo.py fabfile.py sitecustomize.py"
    " usercustomize.py cmakelists.txt meson.build configure configure.ac sconstruct rakefile"
    " justfile .justfile taskfile.yml taskfile.yaml procfile vagrantfile build.xml"
    " build.bazel build workspace workspace.bazel module.bazel binding.gyp netlify.toml"
    " vercel.json fly.toml app.yaml .readthedocs.yml .readthedocs.yaml .mocharc.json"
    " .mocharc.yml .mocharc.yaml .mocharc.js .mocharc.cjs .babelrc .coveragerc .bazelrc",
)
HELD_SHAPES = (
    (re.compile(r"(?:requirements|constraints)[\w.-]*\.(?:txt|in)"), _MANIFEST),
    (re.compile(r".+\.(?:gemspec|podspec|cabal|nuspec|[cfv]s?proj|props|targets)"), _MANIFEST),
    (re.compile(r".+\.lock"), _LOCK),
    (re.compile(r"(?:dockerfile|containerfile)\..+"), _BUILD),
    (re.compile(r".+\.(?:dockerfile|mk|cmake|pth|gyp|gypi)"), _BUILD),
    (
        re.compile(
            r"(?:webpack|rollup|vite|vitest|jest|babel|gulpfile|gruntfile|esbuild|tsup|karma|next"
            r"|playwright|cypress|metro|postcss|nuxt|svelte)(?:\.config)?\.[cm]?[jt]s(?:on)?"
        ),
        _BUILD,
    ),
)

# Characters nobody sees: zero width, bidirectional control, fillers, tags, variation selectors.
UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)

# In the order they are tried; the first that matches a whole path is its reason.
_HOSTILE_PATHS = (
    (re.compile(r".*[\x00-\x1f\x7f-\x9f].*", re.DOTALL), "its name holds control characters"),
    (re.compile(r".*[\ud800-\udfff].*"), "its name is not UTF-8"),
    (re.compile(f".*[{UNSEEN}\ufe0f].*"), "its name holds invisible characters"),
    (re.compile(r"/.*|[A-Za-z]:.*|~.*"), "its name is not relative to the repository"),
    (re.compile(r".*\\.*"), "its name holds a backslash, a separator on Windows"),
    (re.compile(r"|.*//.*|.*/"), "its name has an empty part"),
    (re.compile(r"(?:.*/)?\.\.(?:/.*)?"), "its name climbs out with `..`"),
    (re.compile(r"(?:.*/)?\.(?:/.*)?"), "its name has a part `.`"),
)
_HOSTILE_PARTS = (
    # What NTFS and HFS+ read as `.git`: short names, streams, trailing dots and spaces.
    (re.compile(r"(?:\.?git~\d|gi[0-9a-f]{4}~\d|\.git[ .:]).*"), "its name looks like `.git`"),
    (
        re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:[ .:].*)?"),
        "its name is reserved on Windows",
    ),
    (re.compile(r".*[ .]"), "its name ends with a dot or a space"),
    (re.compile(r'.*[<>:"|?*].*'), "its name holds a character that Windows does not allow"),
)


def refused_path(path: str) -> str | None:
    """Why a patch may not touch `path`, None when it may."""
    if len(path.encode("utf-8", "surrogateescape")) > MAX_PATH_BYTES:
        return f"its name is longer than {MAX_PATH_BYTES} bytes"
    for pattern, reason in _HOSTILE_PATHS:
        if pattern.fullmatch(path):
            return reason
    parts = path.lower().split("/")
    for number, part in enumerate(parts):
        found = _refused_part(part, is_file=number == len(parts) - 1)
        if found:
            return found
    return None


def _refused_part(part: str, *, is_file: bool) -> str | None:
    for pattern, reason in _HOSTILE_PARTS:
        if pattern.fullmatch(part):
            return reason
    if part == ".github":
        return "it is GitHub's own configuration"
    if part.startswith(".git") and not (is_file and part == ".gitignore"):
        return "it configures git or its host"
    return REFUSED_FOLDERS.get(part) or (REFUSED_FILES.get(part) if is_file else None)


def held_path(path: str) -> str | None:
    """What kind of file a person must look at `path` is, None when it is an ordinary one."""
    name = path.rpartition("/")[2].lower()
    if kind := HELD_FILES.get(name):
        return kind
    return next((kind for pattern, kind in HELD_SHAPES if pattern.fullmatch(name)), None)


_TEST_FOLDERS = frozenset({"test", "tests", "__tests__", "spec", "specs", "testing", "e2e"})
_TEST_NAME = re.compile(
    r"test_.+\.pyi?|.+_tests?\.py|tests?\.py"
    r"|.+[._-](?:test|spec)s?\.[cm]?[jt]sx?|tests?\.[cm]?[jt]sx?|test[._-].+\.[cm]?[jt]sx?"
    r"|.+_(?:test|spec)\.(?:go|rb|exs|dart|cc|cpp|rs)"
    r"|.+(?:Test|Tests|Spec|IT)\.(?:java|kt|scala|cs|swift|php)"
)


def is_test_path(path: str) -> bool:
    """Whether a path is where tests live, by a folder's or by the file's name."""
    *folders, name = path.split("/")
    in_folder = any(folder.lower() in _TEST_FOLDERS for folder in folders)
    return in_folder or _TEST_NAME.fullmatch(name) is not None


def is_test_file(path: str) -> bool:
    """Whether a runner would collect the file itself, whatever folder it lies in."""
    return _TEST_NAME.fullmatch(path.rpartition("/")[2]) is not None


# What a test runner reads before it runs a test.
_TEST_CONFIGURATION = re.compile(
    r"conftest\.py|\.?pytest\.(?:ini|toml)|tox\.ini|(?:site|user)customize\.py|\.mocharc\..+"
    r"|(?:jest|vitest|mocha|karma)\.(?:config|setup)\.[cm]?[jt]s(?:on)?"
)
_SUITE_FOLDERS = frozenset({"tests", "__tests__", "spec", "specs"})
_RUNNERS = frozenset({"pytest", "_pytest", "unittest", "pluggy", "iniconfig"})
_STARTED_FIRST = frozenset({"site", "sitecustomize", "usercustomize", "atexit", "runpy", "os"})


def judges(path: str) -> bool:
    """Whether the file decides what a patch is told: a test, its helpers, a runner's settings.

    A patch is run with the base's version of these (see `pipeline.evidence.verify`).
    """
    *folders, name = path.split("/")
    if _TEST_CONFIGURATION.fullmatch(name.lower()):
        return True
    in_suite = any(folder.lower() in _SUITE_FOLDERS for folder in folders)
    return in_suite or folders[:1] == ["test"] or is_test_file(path)


def shadows_runner(path: str) -> bool:
    """Whether a new Python file of that name would be imported instead of a runner's module."""
    parts = path.removeprefix("src/").split("/")
    module = parts[0].removesuffix(".py")
    return path.endswith(".py") and (
        module in _RUNNERS or (len(parts) == 1 and module in _STARTED_FIRST)
    )
