"""The patch policy for names: which paths are refused, which are held. Pure.

Source: reliability.md §6.8. Names are compared folded and anywhere in the tree, because a nested
copy of such a file is read by the same tools.
"""

import re

from sandbox.patch.names import folded, strange_name

_CI = "it configures continuous integration"
_HOOKS = "it configures commit hooks"
_AGENTS = "it instructs coding agents"
_EDITOR = "it configures an editor or a development container"
_PACKAGES = "it configures a package manager"
_MANIFEST = "a manifest"
_LOCK = "a lock file"
_BUILD = "a build or test script"
_TOOLS = "the settings of a development tool"


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
        "tools": _TOOLS,
        "shells": "a shell or debugger runs it",
        "versions": "it configures version control",
        "owners": "it says who must review",
        "installed": "it is what a package manager installs",
        "secrets": "tools keep credentials there",
        "settings": "tools keep their settings there",
    }
    return {name: reasons[kind] for kind, names in rows.items() for name in names.split()}


REFUSED_FOLDERS = _table(
    ci=".ci .circleci .buildkite .drone .semaphore .teamcity .tekton .travis .woodpecker"
    " .forgejo .gitea .builds .azuredevops .azure-pipelines zuul.d .zuul.d .dagger .dependabot",
    hooks=".husky .lefthook .hooks githooks git-hooks .git-hooks",
    agents=".claude .cursor .codex .gemini .windsurf .roo .continue .junie .kiro .aider .agents"
    " .clinerules .amazonq .augment .trae .qwen .kilocode .opencode .openhands .goose .codeium"
    " .tabnine .crush .copilot .void .factory .rovodev .prism .agent .devin .jules"
    " .openhands_instructions .coderabbit .sourcery",
    editor=".devcontainer .vscode .idea .zed .fleet .vs .theia .replit",
    packages=".cargo .yarn .bundle .mvn .pip .mise .conda .pixi .nuget .composer .gem",
    installed="node_modules bower_components site-packages .venv",
    settings=".config",
    secrets=".ssh .docker .aws .kube .gnupg .azure .gcloud",
    versions=".hg .svn .bzr .jj .sl",
    shells=".direnv .ipython .jupyter",
)
REFUSED_FILES = _table(
    ci=".travis.yml .travis.yaml appveyor.yml .appveyor.yml azure-pipelines.yml"
    " azure-pipelines.yaml jenkinsfile .drone.yml .drone.yaml .drone.star .woodpecker.yml"
    " .woodpecker.yaml bitbucket-pipelines.yml .cirrus.yml .cirrus.star cloudbuild.yaml"
    " cloudbuild.yml buildspec.yml wercker.yml .build.yml .zuul.yaml zuul.yaml"
    " .scrutinizer.yml circle.yml codemagic.yaml bitrise.yml renovate.json renovate.json5"
    " .renovaterc .renovaterc.json .mergify.yml .semaphore.yml .prow.yaml .cds.yml .screwdriver.yml"
    " screwdriver.yaml screwdriver.yml .teamcity.kts .travis-ci.yml .gocd.yaml .sr.ht.yml"
    " .builds.yml tekton.yaml cloudbuild.json codeship-steps.yml codeship-services.yml"
    " shippable.yml .codefresh.yml codefresh.yml .magnum.yml solano.yml tddium.yml .vela.yml"
    " .harness.yaml .kodiak.toml bors.toml .cnb.yml dependabot.yml dependabot.yaml dagger.json",
    owners="codeowners",
    hooks=".pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml lefthook.yml"
    " .lefthook.yml lefthook.yaml .lefthook.yaml .huskyrc .huskyrc.json .lintstagedrc"
    " .lintstagedrc.json .overcommit.yml prek.toml .prek.toml pre-commit pre-merge-commit"
    " prepare-commit-msg commit-msg post-commit applypatch-msg pre-applypatch post-applypatch"
    " pre-rebase post-checkout post-merge pre-push pre-receive post-receive post-update"
    " post-rewrite sendemail-validate fsmonitor-watchman reference-transaction push-to-checkout"
    " pre-auto-gc proc-receive",
    agents="claude.md claude.local.md agents.md agents.override.md agent.md gemini.md qwen.md"
    " .mcp.json mcp.json copilot-instructions.md .cursorrules .cursorignore .windsurfrules"
    " .clinerules .goosehints .roomodes .roorules .aider.conf.yml .aider.model.settings.yml"
    " opencode.json opencode.jsonc crush.md warp.md .kilocodemodes .rules .cursorindexingignore"
    " .aiexclude .aiignore .windsurfignore .augment-guidelines .continuerc.json"
    " .openhands_instructions .coderabbit.yaml .coderabbit.yml .sourcery.yaml .sourcery.yml"
    " jules.md devin.md .devin.md",
    editor=".devcontainer.json devcontainer.json .dir-locals.el .exrc .nvimrc .vimrc",
    packages=".npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pip.conf pip.ini .pypirc .netrc _netrc"
    " .envrc uv.toml bunfig.toml .curlrc .wgetrc .condarc .gemrc nuget.config mise.toml .mise.toml"
    " mise.local.toml .mise.local.toml .pnp.cjs .pnp.loader.mjs .pnpmfile.mjs .pnpmfile.js .bowerrc"
    " .mambarc dotnet-tools.json gradle-wrapper.jar maven-wrapper.jar .dockercfg",
    versions=".hgrc .hgsub .hgsubstate",
    shells=".bashrc .bash_profile .bash_login .profile .zshrc .zshenv .zprofile .zlogin .kshrc"
    " .cshrc .tcshrc .login .logout .inputrc .gdbinit .lldbinit .pdbrc .pythonrc .pythonrc.py"
    " .irbrc .pryrc .rprofile .renviron .screenrc .tmux.conf .ghci .sqliterc .psqlrc",
)
REFUSED_SHAPES = (
    (re.compile(r"\.(?:lefthook-local|huskyrc|lintstagedrc)\..+|lint-staged\.config\..+"), _HOOKS),
    (re.compile(r"lefthook(?:-local)?\.(?:ya?ml|toml|json)|\.simple-git-hooks\..+"), _HOOKS),
    (re.compile(r".+\.instructions\.md|.+\.mdc|.+\.chatmode\.md|.+\.prompt\.md"), _AGENTS),
    (re.compile(r".+\.code-workspace|.+\.sublime-(?:project|workspace)|.+\.iml"), _EDITOR),
)
HELD_FILES = _table(
    manifest="package.json pyproject.toml setup.cfg pipfile cargo.toml go.mod go.work gemfile"
    " composer.json pom.xml build.gradle build.gradle.kts settings.gradle"
    " settings.gradle.kts environment.yml environment.yaml mix.exs deno.json deno.jsonc"
    " bower.json project.clj pubspec.yaml build.sbt package.swift manifest.in lerna.json"
    " pnpm-workspace.yaml meta.yaml conanfile.txt conanfile.py vcpkg.json action.yml action.yaml"
    " jsr.json import_map.json pixi.toml pdm.toml poetry.toml hatch.toml flake.nix default.nix"
    " shell.nix brewfile gradle.properties gradle-wrapper.properties global.json stack.yaml"
    " cabal.project rebar.config dune-project shard.yml cartfile podfile berksfile"
    " puppetfile requirements.yml galaxy.yml chart.yaml .tool-versions .nvmrc .node-version"
    " .python-version .ruby-version .java-version .go-version .sdkmanrc rust-toolchain"
    " rust-toolchain.toml .bazelversion",
    lock="package-lock.json npm-shrinkwrap.json pnpm-lock.yaml bun.lockb go.sum go.work.sum"
    " packages.lock.json gradle.lockfile package.resolved conda-lock.yml",
    build="setup.py build.rs makefile gnumakefile dockerfile containerfile .dockerignore"
    " docker-compose.yml docker-compose.yaml compose.yml compose.yaml conftest.py tox.ini"
    " pytest.ini .pytest.ini pytest.toml noxfile.py dodo.py fabfile.py sitecustomize.py"
    " usercustomize.py cmakelists.txt meson.build configure configure.ac sconstruct rakefile"
    " justfile .justfile taskfile.yml taskfile.yaml procfile vagrantfile build.xml"
    " build.bazel build workspace workspace.bazel module.bazel binding.gyp netlify.toml"
    " vercel.json fly.toml app.yaml .readthedocs.yml .readthedocs.yaml .mocharc.json"
    " .mocharc.yml .mocharc.yaml .mocharc.js .mocharc.cjs .babelrc .coveragerc .bazelrc"
    " gradlew gradlew.bat mvnw mvnw.cmd tox.toml sconscript wscript waf jamroot jakefile"
    " cakefile guardfile capfile snakefile earthfile tiltfile skaffold.yaml devspace.yaml"
    " build.ninja premake5.lua xmake.lua buck build.boot project.json workspace.json"
    " angular.json nx.json turbo.json rush.json .nycrc .nycrc.json .rspec .simplecov phpunit.xml"
    " phpunit.xml.dist testng.xml karma.conf.js wdio.conf.js protractor.conf.js knexfile.js"
    " ember-cli-build.js brunch-config.js gemfile.local build.sh install.sh bootstrap.sh"
    " autogen.sh configure.sh setup.sh entrypoint.sh docker-entrypoint.sh run_tests.sh"
    " runtests.py asv.conf.json .env .flaskenv .foreverignore pytest-asv.ini",
    tools=".flake8 .pylintrc pylintrc .pylintrc.toml mypy.ini .mypy.ini ruff.toml .ruff.toml"
    " .isort.cfg .bandit .yapfignore .style.yapf tsconfig.json jsconfig.json .swcrc .jshintrc"
    " .rubocop.yml .rubocop_todo.yml .golangci.yml .golangci.yaml .clang-tidy .clangd"
    " .credo.exs .formatter.exs .scalafmt.conf .scalafix.conf phpstan.neon phpstan.neon.dist"
    " psalm.xml .php-cs-fixer.php .php-cs-fixer.dist.php rector.php sonar-project.properties"
    " codecov.yml .codecov.yml .coveralls.yml .codeclimate.yml .snyk .goreleaser.yml"
    " .goreleaser.yaml .releaserc .luacheckrc .perlcriticrc .proverc dangerfile dangerfile.js"
    " dangerfile.ts",
)
HELD_FOLDERS = _table(build="buildsrc build-logic", tools=".changeset .trunk")
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
    (re.compile(r"(?:gnu)?makefile\..+|makefile[._-].+|.+\.(?:gradle|nix|bzl|bazel|star)"), _BUILD),
    (re.compile(r".+\.gradle\.kts|.+\.(?:sbt|pyproj|vcxproj|sln|ninja|pri|pro|waf)"), _BUILD),
    (re.compile(r".+\.(?:config|conf|setup)\.[cm]?[jt]sx?"), _BUILD),
    (
        re.compile(r"\.(?:eslint|prettier|stylelint|commitlint|babel|mocha|nyc|release|swc)rc\..+"),
        _TOOLS,
    ),
    (re.compile(r"tsconfig\..+\.json|\.env\..+|tslint\.json"), _TOOLS),
    (re.compile(r"\.(?:eslint|prettier|stylelint|commitlint)rc"), _TOOLS),
)


def refused_path(path: str) -> str | None:
    """Why a patch may not touch `path`, None when it may."""
    if reason := strange_name(path):
        return reason
    *folders, name = folded(path).split("/")
    for folder in folders:
        if reason := _refused_part(folder):
            return reason
    if name == ".gitignore":
        return None
    return _refused_part(name) or REFUSED_FILES.get(name) or _shape(name, REFUSED_SHAPES)


def _refused_part(part: str) -> str | None:
    if part == ".github":
        return "it is GitHub's own configuration"
    return "it configures git or its host" if part.startswith(".git") else REFUSED_FOLDERS.get(part)


def _shape(name: str, shapes: tuple[tuple[re.Pattern[str], str], ...]) -> str | None:
    return next((kind for pattern, kind in shapes if pattern.fullmatch(name)), None)


def held_path(path: str) -> str | None:
    """What kind of file a person must look at `path` is, None when it is an ordinary one."""
    *folders, name = folded(path).split("/")
    kind = HELD_FILES.get(name) or _shape(name, HELD_SHAPES)
    return kind or next(filter(None, map(HELD_FOLDERS.get, folders)), None)


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
