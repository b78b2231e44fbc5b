"""`prism env` as an operator types it."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from emulator.github.keys import AppKey
from sandbox.environment.config import parse_config
from tests.images import remove_environments

LOCAL_MODEL = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}  # what the process sandbox asks for
CHECKED = {"check.sh": "grep -q 42 answer.txt\n", "answer.txt": "42\n"}


def prism_env(folder: Path, *arguments: str, **environ: str) -> Result:
    """Run `prism env` with these settings on top of this process's environment."""
    settings = {"PRISM_DATA_DIR": str(folder / "data"), **environ}
    return CliRunner().invoke(main, ["env", *arguments], env=settings)


def repository(folder: Path, files: Mapping[str, str]) -> Path:
    """A repository with these files in one commit; without files, with none."""
    folder.mkdir()
    commands = [["init", "-q"]]
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    if files:
        commands += [["add", "-A"], ["commit", "-q", "-m", "base"]]
    for command in commands:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *who, *command], cwd=folder, check=True)
    return folder


def config(*lines: str) -> dict[str, str]:
    """The checked repository with a configuration."""
    return {**CHECKED, ".github/prism.yml": "\n  ".join(["env:", *lines]) + "\n"}


def test_a_plan_is_shown_without_engine_and_without_running_anything(tmp_path: Path) -> None:
    """The lines of the repository's own file are shown, and not what they would do."""
    mark = tmp_path / "ran"
    folder = repository(tmp_path / "r", config(f"setup: 'touch {mark}'", "test: sh check.sh"))
    ended = prism_env(tmp_path, "show", str(folder), DOCKER_HOST="unix:///nonexistent")
    assert ended.exit_code == 0, ended.stderr
    assert f"set-up      1. touch {mark}\n" in ended.stdout
    assert "test        sh check.sh\n" in ended.stdout
    assert "stored      not known: No container engine answers." in ended.stdout
    assert not mark.exists()


def test_an_image_that_is_not_admitted_is_told(tmp_path: Path) -> None:
    """Before any run meets it; what a devcontainer names is only noted."""
    asked = config("image: python:3.12", "setup: []", "test: sh check.sh")
    folder = repository(tmp_path / "r", asked)
    away = {"DOCKER_HOST": "unix:///nonexistent"}
    ended = prism_env(tmp_path, "show", str(folder), **away)
    assert ended.exit_code == 0, ended.stderr
    assert "image       python:3.12: not admitted, so a run ends there. The repo" in ended.stdout
    named = prism_env(
        tmp_path, "show", str(folder), **away, PRISM_SANDBOX_IMAGES="base=python:3.12"
    )
    assert "image       python:3.12, which the repository asks for" in named.stdout
    other = {
        **CHECKED,
        ".devcontainer.json": '{"image": "mcr.example.org/x:1"}',
        "Makefile": "test:\n",
    }
    ended = prism_env(tmp_path, "show", str(repository(tmp_path / "d", other)), **away)
    assert "of this checkout\n" in ended.stdout
    assert ".devcontainer.json: `image` was ignored." in ended.stdout


def test_the_yaml_of_a_plan_pins_it(tmp_path: Path) -> None:
    """Exactly the text of the file, nothing around it."""
    given = config("setup: ['echo \"a: b\"']", "test: sh check.sh", "vars: {MODE: '1'}")
    folder = repository(tmp_path / "r", given)
    ended = prism_env(tmp_path, "show", str(folder), "--yaml")
    assert ended.exit_code == 0, ended.stderr
    assert parse_config(ended.stdout.encode()) == parse_config(given[".github/prism.yml"].encode())


@pytest.mark.parametrize(
    ("named", "environ", "said"),
    [
        ("{folder}", {}, "is not in a git repository"),
        ("{folder}/nothing", {}, "There is no folder"),
        ("{folder}/file", {}, "is a file"),
        ("/nonexistent/x", {}, "There is no folder /nonexistent/x"),
        ("acme/widgets", {}, "APP_ID and PRIVATE_KEY"),
        (
            "acme/widgets",
            {"APP_ID": "1", "PRIVATE_KEY_PATH": "{key}"},
            "The ledger knows no repository yet.",
        ),
        ("../x", {}, "There is no folder"),
        ("-x/y z", {}, "There is no folder"),
        ("{empty}", {}, "has no commit"),
        ("{good} --commit nope", {}, "has no commit `nope`"),
        ("{bad}", {}, "`env.tests` is not known"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(
    tmp_path: Path, named: str, environ: dict[str, str], said: str
) -> None:
    """No traceback, exit code 2, and what to do."""
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "file").write_text("x")
    places = {
        "folder": str(tmp_path / "plain"),
        "empty": str(repository(tmp_path / "empty", {})),
        "good": str(repository(tmp_path / "good", CHECKED)),
        "bad": str(repository(tmp_path / "bad", config("tests: x"))),
        "key": str(AppKey.create(tmp_path / "key.pem").path) if environ else "",
    }
    arguments = [part.format(**places) for part in named.split(" --commit ")]
    arguments = [arguments[0], *(f"--commit={each}" for each in arguments[1:])]
    filled = {name: value.format(**places) for name, value in environ.items()}
    ended = prism_env(tmp_path, "show", *arguments[1:], "--", arguments[0], **filled)
    assert ended.exit_code == 2, ended.stdout
    assert said in ended.stderr
    assert ended.stderr.startswith("Error: ")
    assert len(ended.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("lines", "code", "said"),
    [
        (("setup: 'echo ready'", "test: sh check.sh"), 0, "1 pass, 0 fail"),
        (("setup: 'echo ready'", "test: 'exit 127'"), 3, "No test can speak for a change."),
        (("setup: 'seq 500; exit 6'", "test: sh check.sh"), 1, "Error: Set-up line"),
    ],
)
def test_building_tells_what_became_of_it(
    tmp_path: Path, lines: tuple[str, ...], code: int, said: str
) -> None:
    """Tests that run, tests that give no verdict, and a set-up that fails have their own codes."""
    folder = repository(tmp_path / "r", config(*lines))
    ended = prism_env(tmp_path, "build", str(folder), PRISM_SANDBOX="process", **LOCAL_MODEL)
    assert ended.exit_code == code, ended.stderr
    assert said in ended.stdout + ended.stderr
    if code == 1:
        assert "\n500\n" in ended.stderr
        assert "\n400\n" not in ended.stderr
        assert "ended with 6" in ended.stderr
        assert "`env.untested: true`" in ended.stderr


@pytest.mark.parametrize("command", ["list", "prune"])
def test_plain_processes_have_nothing_to_list(tmp_path: Path, command: str) -> None:
    """The sentence says where their folders are."""
    ended = prism_env(tmp_path, command, PRISM_SANDBOX="process", **LOCAL_MODEL)
    assert ended.exit_code == 2
    assert str(tmp_path / "data" / "sandbox") in ended.stderr


@pytest.mark.engine
def test_an_environment_is_made_listed_and_removed(tmp_path: Path) -> None:
    """Built in containers, found again, shown as stored; a fresh one is not pruned."""
    folder = repository(tmp_path / "r", config("setup: 'echo ready'", "test: sh check.sh"))
    try:
        built = prism_env(tmp_path, "build", str(folder))
        assert built.exit_code == 0, built.stderr
        assert "1 pass, 0 fail" in built.stdout
        shown = prism_env(tmp_path, "show", str(folder))
        assert "stored      this commit: " in shown.stdout
        assert "base tests: 1/1 pass" in shown.stdout
        listed = prism_env(tmp_path, "list")
        assert f"local{folder}/.git@" in listed.stdout
        kept = prism_env(tmp_path, "prune", "--max-gb", "0", "--max-days", "0")
        assert "0 removed; left: " in kept.stdout
    finally:
        remove_environments(tmp_path / "data")
    assert "0 stored, 0 bytes together" in prism_env(tmp_path, "list").stdout
