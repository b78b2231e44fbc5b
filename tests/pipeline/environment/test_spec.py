"""What an agent hands in is checked before anything is run, and becomes a plan."""

import pytest

from pipeline.environment.spec import SetupSpec, plan_of, problem_of
from sandbox.base import EnvironmentPlan

DETECTED = EnvironmentPlan(
    language="node",
    setup=("npm ci",),
    test="npm test",
    runner="jest",
    origin="package.json",
    directory="web",
    variables=(("CI", "1"),),
    hosts=("files.example.org",),
    image="node@sha256:1",
    notes=("a note",),
)


def test_a_spec_keeps_what_it_cannot_say() -> None:
    """Language, image, variables and hosts stay; lines, folder and runner are the agent's."""
    spec = SetupSpec((" npm i ", ""), " npx mocha ", packages=("less",), directory="./api/")
    plan = plan_of(spec, DETECTED)
    assert (plan.language, plan.image) == ("node", "node@sha256:1")
    assert (plan.variables, plan.hosts) == (DETECTED.variables, DETECTED.hosts)
    assert (plan.setup, plan.test) == (("npm i",), "npx mocha")
    assert (plan.runner, plan.packages, plan.directory) == ("mocha", ("less",), "api")
    assert plan_of(SetupSpec((), "make test", runner="pytest"), DETECTED).runner == "pytest"


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        (SetupSpec((), " "), "`test` is empty"),
        (SetupSpec((), "true"), "own tests"),
        (SetupSpec((), "echo 3 passed; exit 0"), "own tests"),
        (SetupSpec((), "cd sub && echo ok"), "own tests"),
        (SetupSpec(("x",) * 31, "make test"), "more than 30 lines"),
        (SetupSpec(("x" * 3000,), "make test"), "longer than"),
        (SetupSpec(("a\0b",), "make test"), "NUL"),
        (SetupSpec((), "make test", packages=("-o=x",)), "Debian package"),
        (SetupSpec((), "make test", packages=("a b",)), "Debian package"),
        (SetupSpec((), "make test", packages=("aa",) * 41), "packages"),
        (SetupSpec((), "make test", directory="../x"), "inside the repository"),
        (SetupSpec((), "make test", directory="/etc"), "inside the repository"),
        (SetupSpec((), "make test", directory="a/../../b"), "inside the repository"),
        (SetupSpec((), "make test", directory=".git/x"), "inside the repository"),
    ],
)
def test_what_cannot_be_a_setup_is_refused(spec: SetupSpec, named: str) -> None:
    """In one sentence the agent can act on, before a container is started."""
    assert named in problem_of(spec)


@pytest.mark.parametrize(
    "test", ["make test", "cd sub && sh check.sh", "echo start; pytest", "./t", "sh -c 'x"]
)
def test_a_command_that_runs_something_is_accepted(test: str) -> None:
    """Only lines of nothing but words like echo are known to test nothing."""
    assert problem_of(SetupSpec((), test, directory="sub")) == ""
