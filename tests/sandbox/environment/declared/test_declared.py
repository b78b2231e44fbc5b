"""Set-ups that maintainers wrote for other tools, and what of them may be used."""

import json

import pytest

from sandbox.base import EnvironmentPlan
from sandbox.environment.declared.script import convert
from sandbox.environment.detect.python_tests import PYTEST
from sandbox.environment.plan import make_plan
from tests.fakes import MemorySource

COPILOT = ".github/workflows/copilot-setup-steps.yml"
DEVCONTAINER = ".devcontainer/devcontainer.json"
PROJECT = {"pyproject.toml": "[project]\nname = 'a'\n", "tests/test_a.py": ""}


async def plan_of(files: dict[str, str]) -> EnvironmentPlan:
    return await make_plan(MemorySource({**PROJECT, **files}))


async def copilot(steps: str, job: str = "") -> EnvironmentPlan:
    return await plan_of({COPILOT: f"jobs:\n  copilot-setup-steps:\n{job}    steps:\n{steps}"})


async def test_copilot_steps_in_order() -> None:
    """Scripts run in order with their folder and variables; known actions become tools."""
    plan = await copilot(
        "      - uses: actions/checkout@v4\n"
        "      - uses: actions/setup-python@v5\n        with: {python-version: '3.13'}\n"
        "      - uses: pnpm/action-setup@v4\n"
        "      - run: sudo apt-get update && sudo apt-get install -y libpq-dev jq\n"
        "      - name: Install\n        run: |\n          a\n          b\n"
        "        working-directory: web\n        env: {MODE: 'x y'}\n"
        "      - run: make deps\n",
        job="    env: {LEVEL: 3}\n",
    )
    assert plan.setup == (
        'npm install --global --no-audit --no-fund --prefix "${PATH%%/bin:*}" pnpm',
        "set -e\nexport MODE='x y'\ncd web\na\nb",
        "make deps",
    )
    assert plan.packages == ("libpq-dev", "jq")
    assert plan.variables == (("LEVEL", "3"),)
    assert plan.origin == f"set-up: {COPILOT}; test: pyproject.toml"
    assert f"{COPILOT}: asks for Python 3.13; the image's is used." in plan.notes


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("{name: A, run: 'x ${{ secrets.TOKEN }}'}", "uses secrets.TOKEN"),
        ("{name: A, run: x, env: {T: '${{ secrets.T }}'}}", "uses `secrets.T`"),
        ("{name: A, run: 'x ${{ github.ref }}'}", "uses github.ref"),
        ("{name: A, run: \"x ${{ hashFiles('a') }}\"}", "uses hashFiles('a')"),
        ("{name: A, run: x, if: github.actor == 'a'}", "runs on a condition"),
        ("{name: A, run: x, shell: pwsh}", "another shell"),
        ("{name: A, run: 'echo a >> $GITHUB_ENV'}", "GitHub's runner"),
        ("{name: A, uses: someone/action@v1}", "someone/action is not known"),
        ("{name: A, run: sudo systemctl start x}", "needs root"),
        ("{name: A, run: x, working-directory: ../..}", "outside the repository"),
    ],
)
async def test_copilot_steps_left_out(step: str, why: str) -> None:
    """A step that cannot be carried out here is left out, and a note says which and why."""
    plan = await copilot(f"      - {step}\n      - run: kept\n")
    assert plan.setup == ("kept",)
    assert any("step `A` was left out" in note and why in note for note in plan.notes)


async def test_literal_expressions_are_filled_in() -> None:
    """Matrix and env values that are plain text are used, the Python nearest to the image's."""
    plan = await copilot(
        "      - run: a ${{ matrix.python-version }} ${{matrix.os}} ${{ env.X }} ${{ 'q' }}\n"
        "      - {run: b, if: runner.os == 'Linux'}\n",
        job="    env: {X: y}\n    strategy:\n      matrix:\n"
        "        python-version: ['3.9', '3.12', '3.14']\n        os: [ubuntu, macos]\n",
    )
    assert plan.setup == ("a 3.12 ubuntu y q", "b")


async def test_precedence() -> None:
    """prism.yml, copilot steps, an agent's script, devcontainer, detection: first with lines."""
    files = {
        ".github/prism.yml": "env: {setup: one}",
        COPILOT: "jobs: {copilot-setup-steps: {steps: [{run: two}]}}",
        ".openhands/setup.sh": "#!/bin/bash\nthree\n",
        DEVCONTAINER: '{"postCreateCommand": "four"}',
    }
    for line in ("one", "two", "three", "four"):
        plan = await plan_of(files)
        assert plan.setup == (line,)
        assert plan.test == PYTEST
        assert plan.notes
        files.pop(next(iter(files)))
    assert (await plan_of(files)).setup[0] == "pip install -e ."


async def test_a_place_without_usable_lines_is_passed_over() -> None:
    """When nothing of a place can be used the next one is asked; its notes stay."""
    plan = await plan_of(
        {
            COPILOT: "jobs: {copilot-setup-steps: {steps: [{uses: x/y@v1}]}}",
            DEVCONTAINER: '{"postCreateCommand": "make deps"}',
        }
    )
    assert plan.setup == ("make deps",)
    assert any("x/y" in note for note in plan.notes)


async def test_devcontainer_safe_subset() -> None:
    """Commands in each form and literal variables; nothing that acts outside the container."""
    content = {
        "image": "mcr.example.org/python:3",
        "onCreateCommand": "one",
        "updateContentCommand": ["two", "a b"],
        "postCreateCommand": {"x": "three", "y": ["four"], "z": "cd ${localWorkspaceFolder:a}"},
        "containerEnv": {"A": "b", "PATH": "/x", "C": "${localEnv:SECRET}"},
        "initializeCommand": "evil",
        "mounts": ["source=/,target=/host,type=bind"],
        "runArgs": ["--privileged"],
        "privileged": True,
        "features": {"x": {}},
        "build": {"dockerfile": "Dockerfile"},
    }
    text = "// why\n" + json.dumps(content, indent=1)[:-1] + ", /* end */ }"
    plan = await plan_of({DEVCONTAINER: text})
    assert plan.setup == ("one", "two 'a b'", "three", "four")
    assert plan.variables == (("A", "b"),)
    assert plan.image == ""
    ignored = {"image", "initializeCommand", "mounts", "runArgs", "privileged", "features", "build"}
    assert all(f"{DEVCONTAINER}: `{key}` was ignored." in plan.notes for key in ignored)
    assert any("variable of the editor" in note for note in plan.notes)


async def test_scripts_of_the_repository_are_looked_into() -> None:
    """A called script is read, so that the environment it would make in the tree is not made."""
    plan = await plan_of(
        {
            DEVCONTAINER: '{"onCreateCommand": "bash ./tools/create.sh"}',
            "requirements/dev.txt": "",
            "tools/create.sh": "#!/bin/bash\nset -e\n# comment\n"
            "python3 -m venv --upgrade-deps .venv\n. .venv/bin/activate\n"
            "pip install -r requirements/dev.txt\npre-commit install\n",
        }
    )
    assert plan.setup == ("pip install -r requirements/dev.txt",)


async def test_stale_set_ups_are_not_used() -> None:
    """A declared set-up that names a file which is gone is passed over with a note."""
    plan = await plan_of({DEVCONTAINER: '{"postCreateCommand": "pip install -r gone.txt"}'})
    assert plan.setup[0] == "pip install -e ."
    assert any("gone.txt, which does not exist" in note for note in plan.notes)


async def test_declared_lines_work_from_the_root() -> None:
    """Tests may be in a folder; set-up lines that were meant for the root go there first."""
    plan = await make_plan(
        MemorySource(
            {
                "libs/core/pyproject.toml": "[project]\nname='a'\n",
                "libs/core/tests/test_a.py": "",
                ".openhands/setup.sh": "make deps",
            }
        )
    )
    assert (plan.directory, plan.setup) == ("libs/core", ("cd ../..\nmake deps",))


async def test_set_ups_without_effect() -> None:
    """Lines that only install tools do not stand for a set-up."""
    plan = await plan_of({DEVCONTAINER: '{"postCreateCommand": "git fetch && pip install tox"}'})
    assert plan.setup[0] == "pip install -e ."
    assert f"{DEVCONTAINER} was left out: it only installs tools." in plan.notes


async def test_managers_are_installed_first() -> None:
    """What the author's image had is installed before the lines that call it."""
    plan = await plan_of(
        {
            ".openhands/setup.sh": "pnpm i\nA=b uv sync\n",
            "package.json": '{"packageManager": "pnpm@9.1.0"}',
            "pnpm-lock.yaml": "",
        }
    )
    assert plan.setup[0].startswith('python -m venv "$HOME/.tools/uv"')
    assert plan.setup[1].endswith(" pnpm@9.1.0")
    plan = await plan_of({".openhands/setup.sh": "npm i -g pnpm\npnpm i\n"})
    assert len(plan.setup) == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb \\\n  c\n", "set -e\na\nb c"),
        ("#!/bin/sh\na", "a"),
        ("sudo pip install x", "pip install x"),
        ("corepack enable && pnpm i", "pnpm i"),
        ("npx playwright install --with-deps", ""),
        ("uv sync --dev", 'UV_PROJECT_ENVIRONMENT="$VIRTUAL_ENV" uv sync --inexact --dev'),
        (".venv/bin/pip install x", "pip install x"),
        ("mise install", ""),
        ("docker compose up -d", ""),
        ("apt-get update\napt-get install -y -qq jq=1.6", ""),
        ("DEBIAN_FRONTEND=noninteractive apt install jq && make", "make"),
        ("x" * 3000, ""),
    ],
)
def test_scripts_become_lines(text: str, line: str) -> None:
    """What means something else here is translated, and what cannot work is not kept."""
    assert convert(text).line == line


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("pipx install poetry", 'python -m venv "$HOME/.tools/poetry"'),
        ("curl -LsSf https://astral.sh/uv/install.sh | sh", 'python -m venv "$HOME/.tools/uv"'),
        ("sudo npm install -g yarn@1", "npm install --global --no-audit"),
    ],
)
def test_installers_of_tools(text: str, starts: str) -> None:
    """Tools that are installed for the whole machine are installed for the sandbox's user."""
    assert convert(text).line.startswith(starts)
