"""How Node projects are recognised: package managers, and the runner behind the test script."""

import json

import pytest

from sandbox.base import EnvironmentPlan
from sandbox.environment.detect.node import detect_node
from tests.fakes import MemorySource

BERRY = "__metadata:\n  version: 8\n"


async def plan_of(package: dict[str, object], **files: str) -> EnvironmentPlan:
    everything = {"package.json": json.dumps({"name": "a", **package}), **files}
    found = await detect_node(MemorySource(everything), tuple(everything), "")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("package", "files", "installs", "line"),
    [
        ({}, {}, "", "npm install --no-audit --no-fund --ignore-scripts || npm install"),
        ({}, {"package-lock.json": ""}, "", "npm ci --no-audit --no-fund --ignore-scripts || npm"),
        ({}, {"npm-shrinkwrap.json": ""}, "", "npm ci "),
        ({}, {"yarn.lock": "# yarn lockfile v1"}, "yarn@1", "yarn install --non-interactive"),
        ({}, {"yarn.lock": BERRY}, "@yarnpkg/cli-dist@4", "yarn install --immutable || yarn"),
        (
            {"packageManager": "yarn@3.6.1+sha"},
            {"yarn.lock": BERRY},
            "@yarnpkg/cli-dist@3.6.1",
            "yarn",
        ),
        ({}, {"pnpm-lock.yaml": "lockfileVersion: '9.0'"}, "pnpm@10", "pnpm install --frozen-lock"),
        ({}, {"pnpm-lock.yaml": "lockfileVersion: 5.4"}, "pnpm@7", "pnpm install"),
        ({"packageManager": "pnpm@8.1.0"}, {"pnpm-lock.yaml": ""}, "pnpm@8.1.0", "pnpm install"),
        ({"packageManager": "pnpm@8.1.0"}, {"package-lock.json": ""}, "", "npm ci"),
        (
            {"packageManager": "npm@10.0.0"},
            {"yarn.lock": "", "package-lock.json": ""},
            "",
            "npm ci",
        ),
    ],
)
async def test_managers(
    package: dict[str, object], files: dict[str, str], installs: str, line: str
) -> None:
    """The lock file decides; a manager the image lacks is installed by npm, without corepack."""
    plan = await plan_of(package, **files)
    if installs:
        assert plan.setup[0].endswith(f'--prefix "${{PATH%%/bin:*}}" {installs}')
    assert line in plan.setup[1 if installs else 0]
    assert not any("corepack" in one for one in plan.setup)


@pytest.mark.parametrize(
    ("scripts", "test", "runner"),
    [
        ({"test": "mocha"}, "npm test", "mocha"),
        ({"test": "mocha", "pretest": "npm run lint"}, "npm test --ignore-scripts", "mocha"),
        ({"test": "mocha", "pretest": "tsc -p ."}, "npm test", "mocha"),
        ({"test": "npm run lint && mocha --exit"}, "npx --no-install mocha --exit", "mocha"),
        ({"test": "npm run lint && npm run unit", "unit": "jest"}, "npm run unit", "jest"),
        (
            {"test": "run-s lint test:*", "test:a": "x", "test:unit": "vitest run"},
            "npm run test:unit",
            "vitest",
        ),
        ({"test": "xo && c8 ava"}, "npx --no-install c8 ava", "exit_code"),
        ({"test": "standard && tap test/*.js"}, "npx --no-install tap test/*.js", "exit_code"),
        ({"test": "nyc mocha a"}, "npm test", "mocha"),
        ({"test": "cross-env A=b jest --ci"}, "npm test", "jest"),
        ({"test": "lint-staged; A='b c' node --test"}, "A='b c' node --test", "node"),
        ({"test": "node --import tsx --test src/*.ts"}, "npm test", "node"),
        ({"test": "node ./node_modules/mocha/bin/_mocha"}, "npm test", "mocha"),
        ({"test": "npm run build && npm run t", "t": "mocha"}, "npm test", "mocha"),
        ({"test": "mocha | tap-spec"}, "npm test", "exit_code"),
        ({"test": "npm run test"}, "npm test", "exit_code"),
        ({"test": "npm run a", "a": "npm run b", "b": "npm run a"}, "", ""),
        ({"test:unit": "vitest"}, "npm run test:unit", "vitest"),
        ({"test": "make test"}, "npm test", "exit_code"),
        ({"test": "cat f; false"}, "npm test", "exit_code"),
        ({"test": "npm run lint && cat f && false"}, "npm test", "exit_code"),
        ({"test": "node -e 'a(); b()'"}, "npm test", "exit_code"),
        ({"test": "node -e \"a(); 'b' && c()\" && ./d"}, "npm test", "exit_code"),
        ({"test": "eslint . && mocha -g 'a; b'"}, "npx --no-install mocha -g 'a; b'", "mocha"),
        ({"test": 'echo "Error: no test specified" && exit 1'}, "", "exit_code"),
        ({"build": "tsc"}, "", "exit_code"),
    ],
)
async def test_runner_behind_scripts(scripts: dict[str, str], test: str, runner: str) -> None:
    """Scripts are followed to the tests alone; linting is left out, building is not."""
    plan = await plan_of({"scripts": scripts})
    if runner:
        assert (plan.test, plan.runner) == (test, runner)
    else:
        assert plan.test.startswith("npm run")  # a circle ends somewhere in it


async def test_other_managers_run_scripts_themselves() -> None:
    """A yarn or pnpm project's scripts may use what only its manager knows."""
    scripts = {"scripts": {"test": "yarn lint && yarn unit", "unit": "jest", "lint": "x"}}
    assert (await plan_of(scripts, **{"yarn.lock": BERRY})).test == "yarn run unit"
    scripts = {"scripts": {"test": "eslint . && vitest"}}
    assert (await plan_of(scripts, **{"yarn.lock": BERRY})).test == "yarn exec vitest"


async def test_workspaces() -> None:
    """Members see each other built; without a test script at the root each member's runs."""
    plan = await plan_of({"workspaces": ["packages/*"], "scripts": {"build": "x"}})
    assert plan.setup[-1].startswith("npm run build || ")
    assert plan.test == "npm test --workspaces --if-present"
    plan = await plan_of({}, **{"pnpm-workspace.yaml": "", "pnpm-lock.yaml": ""})
    assert plan.test == "pnpm -r --if-present run test"


async def test_prepare_builds_but_hooks_do_not_matter() -> None:
    """A project's own build step is part of its installation; git hooks are not."""
    assert any("run prepare" in x for x in (await plan_of({"scripts": {"prepare": "tsc"}})).setup)
    assert not any(
        "run prepare" in x for x in (await plan_of({"scripts": {"prepare": "husky"}})).setup
    )


@pytest.mark.parametrize(
    ("engines", "noted"),
    [
        (">=18", False),
        ("^24", False),
        ("20 || 24.x", False),
        ("^18 || ^20", True),
        (">=26", True),
        ("*", False),
    ],
)
async def test_other_node_is_noted(engines: str, noted: bool) -> None:
    """A version of Node that is plainly not the image's is said."""
    plan = await plan_of({"engines": {"node": engines}}, **{".nvmrc": "v18\n"})
    assert any("package.json asks" in note for note in plan.notes) == noted
    assert ".nvmrc asks for Node.js v18; the image's is used." in plan.notes
