"""Which set-ups may be built upon by another commit: those that ran nothing of the tree."""

import json

import pytest

from sandbox.base import EnvironmentPlan
from sandbox.environment.detect.table import detect
from sandbox.environment.inputs import inputs
from tests.fakes import MemorySource

Files = dict[str, str]
NAMED = '[project]\nname = "a"\nversion = "1"\n'


def built_by(backend: str, requires: str, more: str = "") -> Files:
    """A Python project of a backend."""
    system = f'[build-system]\nrequires = ["{requires}"]\nbuild-backend = "{backend}"\n'
    return {"pyproject.toml": system + NAMED + more, "a.py": ""}


SETUPTOOLS = built_by("setuptools.build_meta", "setuptools>=61")
HATCH = built_by("hatchling.build", "hatchling")
LOCKED = {
    "package.json": json.dumps({"scripts": {"test": "mocha"}, "dependencies": {"a": "^1"}}),
    "package-lock.json": json.dumps(
        {"packages": {"": {}, "node_modules/a": {"resolved": "https://r.example/a.tgz"}}}
    ),
}
NPM = "npm ci --no-audit --no-fund --ignore-scripts || npm install --no-audit --no-fund"
CARGO = ("cargo fetch --locked || cargo fetch", "cargo test --no-run || echo 'no'")


def lock(**package: object) -> Files:
    """The locked project with another entry."""
    packages = {"": {}, "node_modules/a": package}
    return {**LOCKED, "package-lock.json": json.dumps({"packages": packages})}


def manifest(**content: object) -> Files:
    """The locked project with another manifest."""
    return {**LOCKED, "package.json": json.dumps(content)}


def more(text: str) -> Files:
    """The setuptools project with more in its manifest."""
    return built_by("setuptools.build_meta", "setuptools", text)


async def shared(files: Files, *lines: str, **plan: object) -> bool:
    """Whether a commit with other code finds the same inputs."""
    made = EnvironmentPlan("unknown", lines, "", "exit_code", "t", **plan)
    one, two = MemorySource(dict(files)), MemorySource({**files, "src/code.py": "changed"})
    two.base_commit = "f" * 40
    return await inputs(one, made) == await inputs(two, made)


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({}, ()),
        ({}, ("pip install pytest 'a>=1,<2' 'b[c]==1.0'", "pip install -q -U d", "echo ok")),
        ({"r.txt": "-r s/t.txt\na==1 ; python_version<'4' # why\n", "s/t.txt": "b"},
         ("pip install -r r.txt",)),
        ({"w/a-1-py3-none-any.whl": ""}, ("pip install --no-index ./w/a-1-py3-none-any.whl",)),
        (SETUPTOOLS, ("pip install -e '.[test]' || pip install b",)),
        ({**SETUPTOOLS, "setup.py": "from setuptools import setup\nsetup()\n"},
         ("pip install -e .",)),
        (SETUPTOOLS, ('pip install -e ".[test]"; pip install "b>1; python_version < \'4\'"',)),
        ({**SETUPTOOLS, "setup.cfg": "[flake8]\nmax-line-length = 9\n"}, ("pip install -e .",)),
        (HATCH, ("pip install -e .",)),
        (built_by("poetry.core.masonry.api", "poetry-core"), ("pip install -e .",)),
        (LOCKED, (NPM, "npm rebuild || echo 'failed; going on'")),
        ({**LOCKED, ".npmrc": "save-exact=true\n"}, (NPM,)),
        ({"go.mod": "module a"},
         ("go mod download", "go test -exec true ./... >/dev/null || echo 'Some do not build.'")),
        ({"Cargo.toml": '[package]\nname="a"\n'}, CARGO),
    ],
)  # fmt: skip
async def test_known_installers_are_shared(files: Files, lines: tuple[str, ...]) -> None:
    """Published packages, wheels, projects that are only declared, and compilers."""
    assert await shared(files, *lines)


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({}, ("npm run setup",)),
        ({}, ("./tools/setup.sh",)),
        ({}, ("make",)),
        ({}, ("python -m pip install a",)),  # the tree is on its path
        ({}, ("pip install $(sh x)",)),
        ({}, ("pip install `sh x`",)),
        ({}, ("pip install a | sh x",)),
        ({}, ("pip install a & sh x",)),
        ({}, ("pip install a\nsh x",)),
        ({}, ("pip install a > /opt/venv/bin/pytest",)),
        ({}, ('pip install "$(sh x)"',)),
        ({}, ("""pip install "a;'`sh x`'" """,)),
        ({}, ("""pip install "a'" ; sh x ; "'b" """,)),
        ({}, ("""pip install "a'"&sh x; echo "'" """,)),
        ({".t/setup.py": ""}, ("pip install -e .[t]",)),  # to the shell a pattern for file names
        ({}, ("echo $(sh x)",)),
        ({}, ("X=1 pip install a",)),
        ({}, ("pip install .",)),
        ({}, ("pip install ./lib",)),
        ({}, ("pip install lib.zip",)),
        ({}, ("pip install 'lib.tar.gz[x]'",)),
        ({}, ("pip install git+https://x/y",)),
        ({}, ("pip install 'a @ file:///workspace/a'",)),
        ({}, ("pip install --config-settings=a=b c",)),
        ({}, ("pip install -r gone.txt",)),
        ({"r.txt": "-e .\n"}, ("pip install -r r.txt",)),
        ({"r.txt": "./lib\n"}, ("pip install -r r.txt",)),
        ({"r.txt": "a @ file:lib\n"}, ("pip install -r r.txt",)),
        ({"r.txt": "-r s.txt", "s.txt": "lib/\n"}, ("pip install -r r.txt",)),
        ({"r.txt": "# coding: utf-7\na"}, ("pip install -r r.txt",)),
        ({"r.txt": "${X}\n"}, ("pip install -r r.txt",)),
        ({"src/sitecustomize.py": ""}, ("pip install a",)),
        ({"evil.pth": ""}, ("pip install a",)),
        ({"pyproject.toml": NAMED}, ("pip install -e .",)),  # no backend: the tree is on its path
        ({**SETUPTOOLS, "setup.py": "import x\n"}, ("pip install -e .",)),
        ({**SETUPTOOLS, "setup.cfg": "[metadata]\nversion = attr: a.x\n"}, ("pip install -e .",)),
        (more("[tool.setuptools.dynamic]\nversion = {attr = 'a.x'}"), ("pip install -e .",)),
        (more("[tool.setuptools.cmdclass]\nbuild_py = 'a.B'"), ("pip install -e .",)),
        (more("[tool.setuptools]\nscript-files = ['pytest']"), ("pip install -e .",)),
        (more("[project.scripts]\ngit = 'a:main'"), ("pip install -e .",)),
        (more("[project.entry-points.'keyring.backends']\nx = 'a'"), ("pip install -e .",)),
        (more("not toml"), ("pip install -e .",)),
        (built_by("own", "setuptools"), ("pip install -e .",)),
        (built_by("setuptools.build_meta", "./lib"), ("pip install -e .",)),
        (built_by("hatchling.build", "hatchling", "[tool.hatch.build.hooks.custom]\n"),
         ("pip install -e .",)),
        (built_by("hatchling.build", "hatchling", "[tool.hatch.version]\nsource='code'\npath='a'"),
         ("pip install -e .",)),
        ({**HATCH, "hatch_build.py": ""}, ("pip install -e .",)),
        (built_by("poetry.core.masonry.api", "poetry-core", "[tool.poetry.build]\nscript='b.py'"),
         ("pip install -e .",)),
        (manifest(scripts={"prepare": "node x"}), (NPM,)),
        (manifest(scripts={"dependencies": "node x"}), (NPM,)),
        (manifest(workspaces=["a"]), (NPM,)),
        (manifest(dependencies={"a": "file:lib"}), (NPM,)),
        (manifest(dependencies={"a": "../lib"}), (NPM,)),
        (manifest(dependencies={"a": "owner/name"}), (NPM,)),
        ({"package.json": "{}"}, ("npm install",)),  # nobody knows what comes
        (lock(hasInstallScript=True), (NPM,)),
        (lock(link=True, resolved="lib"), (NPM,)),
        (lock(resolved="file:lib"), (NPM,)),
        ({**LOCKED, "package-lock.json": '{"dependencies": {}}'}, (NPM,)),
        ({**LOCKED, "binding.gyp": ""}, (NPM,)),
        ({**LOCKED, "node_modules/a/x.js": ""}, (NPM,)),
        ({**LOCKED, ".npmrc": "script-shell=./x.sh\n"}, (NPM,)),
        ({**LOCKED, ".npmrc": "node-options=--require ./x.js\n"}, (NPM,)),
        (LOCKED, ("npm install ./lib",)),
        (LOCKED, (NPM, "npm run prepare")),
        ({"Cargo.toml": "", "build.rs": ""}, CARGO),
        ({"Cargo.toml": '[package]\nbuild = "b.rs"'}, CARGO),
        ({"Cargo.toml": "[lib]\n\"proc\\u002dmacro\" = true"}, CARGO),
        ({"Cargo.toml": "", ".cargo/config.toml": ""}, CARGO),
        ({"Cargo.toml": "", "rust-toolchain.toml": ""}, CARGO),
        ({}, ("go test -exec ./x ./...",)),
        ({}, ("go generate ./...",)),
        ({}, ("bundle install",)),
        ({}, ("composer install",)),
    ],
)  # fmt: skip
async def test_what_may_run_code_is_of_one_commit(files: Files, lines: tuple[str, ...]) -> None:
    """However small the way into the tree is: nothing of that commit reaches another."""
    assert not await shared(files, *lines)


async def test_variables_lead_anywhere() -> None:
    """PYTHONPATH makes the tree part of every program of the set-up."""
    assert not await shared({}, "pip install a", variables=(("PYTHONPATH", "src:."),))


async def test_what_a_detector_makes_of_a_plain_project_is_shared() -> None:
    """The lines of detection are the ones that are known."""
    projects = [
        {**SETUPTOOLS, "tests/test_a.py": "import a"},
        {**LOCKED, "a.js": ""},
        {"go.mod": "module a", "a_test.go": ""},
        {"Cargo.toml": '[package]\nname="a"\n', "Cargo.lock": "", "src/lib.rs": ""},
    ]
    for files in projects:
        plan = await detect(MemorySource(files), tuple(files))
        assert plan is not None
        assert await shared(files, *plan.setup, directory=plan.directory), plan.setup
