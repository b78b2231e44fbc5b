"""What `.github/prism.yml` may say, and how it is refused."""

import json

import pytest

from sandbox.environment.config import CONFIG_PATH, RepositoryConfig, parse_config
from sandbox.environment.plan import make_plan
from sandbox.errors import ConfigInvalid
from tests.fakes import MemorySource

FULL = """
env:
  setup:
    - pip install -e .
  test: pytest -q
  image: python@sha256:aaaa
  apt: [libpq-dev, "g++"]
  vars: {DEBUG: true, LEVEL: 3, NAME: "a b"}
  hosts: [Files.Example.org]
  directory: packages/core/
  untested: true
"""


def test_every_key_is_read() -> None:
    """All keys of `env` arrive, normalised."""
    assert parse_config(FULL.encode()) == RepositoryConfig(
        setup=("pip install -e .",),
        test="pytest -q",
        image="python@sha256:aaaa",
        apt=("libpq-dev", "g++"),
        vars=(("DEBUG", "true"), ("LEVEL", "3"), ("NAME", "a b")),
        hosts=("files.example.org",),
        directory="packages/core",
        untested=True,
    )


async def test_every_key_reaches_the_plan() -> None:
    """The plan carries them; the image stays a wish that the operator has to admit."""
    plan = await make_plan(MemorySource({CONFIG_PATH: FULL, "packages/core/setup.py": ""}))
    assert (plan.setup, plan.test, plan.runner) == (("pip install -e .",), "pytest -q", "pytest")
    assert (plan.packages, plan.hosts) == (("libpq-dev", "g++"), ("files.example.org",))
    assert (plan.image, plan.directory) == ("python@sha256:aaaa", "packages/core")
    assert dict(plan.variables) == {"DEBUG": "true", "LEVEL": "3", "NAME": "a b"}
    assert plan.origin == CONFIG_PATH


@pytest.mark.parametrize(
    ("env", "says"),
    [
        ("{setpu: x}", "`env.setpu` is not known; known keys are apt, directory"),
        ("{1: x}", "`env.int` is not known"),
        ("{apt: [a b]}", "'a b' is not one of"),
        ("{apt: ['--force']}", "env.apt"),
        ("{apt: ['a;reboot']}", "env.apt"),
        ("{apt: {a: b}}", "env.apt"),
        ("{hosts: ['http://a.org']}", "env.hosts"),
        ("{hosts: [localhost]}", "env.hosts"),
        ("{hosts: ['*']}", "env.hosts"),
        ("{vars: [A]}", "env.vars"),
        ("{vars: {a-b: c}}", "'a-b'"),
        ("{vars: {A: [b]}}", "that of A"),
        ("{vars: {PATH: /x}}", "PATH belongs to the sandbox"),
        ("{vars: {LD_PRELOAD: /x}}", "LD_PRELOAD"),
        ('{vars: {A: "b\\0c"}}', "that of A"),
        ("{vars: {A: 0x" + "f" * 9000 + "}}", "that of A"),
        ("{directory: ../x}", "env.directory"),
        ("{directory: /etc}", "env.directory"),
        ("{directory: 3}", "env.directory"),
        ("{image: 'a b'}", "env.image"),
        ("{untested: maybe}", "true or false"),
        ('{test: "a\\0b"}', "env.test"),
        ('{setup: ["a\\0b"]}', "env.setup"),
    ],
)
def test_wrong_values_are_named(env: str, says: str) -> None:
    """Each wrong value is refused with file, key and what it must be."""
    with pytest.raises(ConfigInvalid) as caught:
        parse_config(f"env: {env}".encode())
    assert says in str(caught.value)
    assert str(caught.value).startswith(CONFIG_PATH)


async def test_directory_must_exist() -> None:
    """A folder that the commit does not have is named, not found out by a failing line."""
    source = MemorySource({CONFIG_PATH: "env: {directory: packages/gone}", "setup.py": ""})
    with pytest.raises(ConfigInvalid, match="packages/gone, where there is no file"):
        await make_plan(source)


@pytest.mark.parametrize("text", ["env:", "env: {}", "env: {setup: , vars: }", "other: 1", ""])
def test_nothing_given(text: str) -> None:
    """Empty values are the same as none."""
    assert parse_config(text.encode()) == RepositoryConfig()


@pytest.mark.parametrize(
    "name",
    [
        *("SHELLOPTS", "BASHOPTS", "BASH_ENV", "BASH_XTRACEFD", "ENV", "PS4", "IFS", "TMPDIR"),
        *("GIT_DIR", "GIT_EXEC_PATH", "GIT_CONFIG_COUNT", "GIT_SSH_COMMAND", "LD_AUDIT"),
        *("HTTP_PROXY", "https_proxy", "NO_PROXY", "SSH_CLIENT", "POSIXLY_CORRECT", "PRISM_X"),
    ],
)
async def test_variables_of_shells_and_tools_are_refused(name: str) -> None:
    """They change what a line means; a development container's are left out of the plan."""
    with pytest.raises(ConfigInvalid, match=f"{name} belongs to the sandbox"):
        parse_config(f"env: {{vars: {{{name}: x}}}}".encode())
    document = json.dumps({"containerEnv": {name: "x", "GIT_AUTHOR_NAME": "kept"}})
    source = MemorySource({".devcontainer/devcontainer.json": document, "setup.py": ""})
    assert name not in dict((await make_plan(source)).variables)
    assert parse_config(b"env: {vars: {GIT_AUTHOR_NAME: a}}").vars == (("GIT_AUTHOR_NAME", "a"),)
