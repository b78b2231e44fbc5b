"""The commands as an operator types them: what cannot work is one sentence and exit code 2."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from app.demo.processes import child_environment
from emulator.github.keys import AppKey

COMMANDS = ("demo", "doctor", "env", "fix", "outcomes", "serve", "worker")
SECRET = "a-webhook-secret-of-tests-only-0123456789"


def prism(folder: Path, *arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """Run the command line with nothing but these settings."""
    return subprocess.run(
        [sys.executable, "-m", "app.cli", *arguments],
        env=child_environment({"PRISM_DATA_DIR": str(folder / "data"), **environ}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def refused(ended: "subprocess.CompletedProcess[str]") -> str:
    """The one sentence a command ended with."""
    lines = ended.stderr.strip().splitlines()
    assert ended.returncode == 2, ended.stderr
    assert len(lines) == 1, ended.stderr
    assert lines[0].startswith("Error: ")
    return lines[0]


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Settings with which a worker gets as far as its engine."""
    key = AppKey.create(tmp_path_factory.mktemp("key") / "key.pem")
    return {"APP_ID": "1", "PRIVATE_KEY_PATH": str(key.path), "ANTHROPIC_API_KEY": "key"}


def test_help_names_every_command(tmp_path: Path) -> None:
    """Each command has a line that says what it does."""
    ended = prism(tmp_path, "--help")
    shown = {line.split()[0] for line in ended.stdout.splitlines() if line.startswith("  ")}
    assert ended.returncode == 0
    assert shown >= set(COMMANDS)


def test_the_web_process_refuses_a_weak_secret(tmp_path: Path) -> None:
    """The default of other Apps protects nothing; the sentence says how to make a good one."""
    said = refused(prism(tmp_path, "serve", WEBHOOK_SECRET="development"))
    assert "openssl rand -hex 32" in said


def test_outcomes_need_a_ledger(tmp_path: Path) -> None:
    """Without one the sentence says where it was looked for."""
    assert "There is no ledger in" in refused(prism(tmp_path, "outcomes"))


def test_sigterm_ends_the_demo_with_its_processes(tmp_path: Path) -> None:
    """A service manager stops it as Ctrl-C does: no emulator stays behind."""
    work = tmp_path / "work"
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "DOCKER_HOST": "unix:///nonexistent"}
    demo = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "demo", "--work", str(work)],
        env=child_environment(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: (work / "github.ready").exists() or demo.poll() is not None)
        assert len(named(work) - {demo.pid}) >= 2
        demo.terminate()
        assert demo.wait(30) == 0
        wait_until(lambda: named(work) == set())  # the embedded Redis ends a moment later
    finally:
        for pid in named(work):
            os.kill(pid, signal.SIGKILL)
        demo.wait(5)


@pytest.mark.parametrize("ignored", [True, False])
def test_sigterm_is_ctrl_c_for_what_runs_in_asyncio(ignored: bool) -> None:
    """Also in the background of a shell, where Ctrl-C is ignored: what is open gets closed."""
    code = f"""
import asyncio, os, signal
from app.command import term_as_interrupt
if {ignored}:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
async def work():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0)
        print("closed")
try:
    with term_as_interrupt():
        asyncio.run(work())
except KeyboardInterrupt:
    print("interrupted")
"""
    argv = [sys.executable, "-c", code]
    ended = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True)
    assert ended.stdout.split() == ["closed", "interrupted"]


def named(folder: Path) -> set[int]:
    """The processes that have this folder in their command line."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if bytes(folder) in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
    return found


def wait_until(true: Callable[[], bool]) -> None:
    """Return once it is true, or fail."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("host", ["unix:///nonexistent/docker.sock", "tcp://127.0.0.1:9"])
def test_the_worker_refuses_to_start_without_an_engine(
    tmp_path: Path, worker: dict[str, str], host: str
) -> None:
    """Nothing is claimed, so nothing is lost; the sentence says what to install or set."""
    said = refused(prism(tmp_path, "worker", **worker, DOCKER_HOST=host))
    assert "No container engine answers" in said
    assert "DOCKER_HOST" in said


def test_the_worker_refuses_a_real_model_without_isolation(
    tmp_path: Path, worker: dict[str, str]
) -> None:
    """The process backend is for models on this machine only; here a look-alike of it."""
    more = {"PRISM_SANDBOX": "process", "ANTHROPIC_BASE_URL": "http://127.0.0.1.example.org"}
    assert "isolates nothing" in refused(prism(tmp_path, "worker", **worker, **more))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"PRIVATE_KEY": "-----BEGIN RSA PRIVATE KEY-----\nAA=="}, "PRIVATE_KEY"),
        ({"PRISM_MODEL": "unheard-of"}, "PRISM_PRICES"),
        ({"REDIS_URL": "http://127.0.0.1"}, "REDIS_URL"),
        ({"DATABASE_URL": "mysql://127.0.0.1/prism"}, "DATABASE_URL"),
        ({"DATABASE_URL": "sqlite:////dev/null/prism.db"}, "DATABASE_URL"),
        ({"PRISM_DATA_DIR": "/dev/null/data"}, "PRISM_DATA_DIR"),
    ],
)
def test_the_worker_names_the_setting_that_is_wrong(
    tmp_path: Path, worker: dict[str, str], changes: dict[str, str], named: str
) -> None:
    """No traceback for what an operator can mend."""
    local = {"PRISM_SANDBOX": "process", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    ended = prism(tmp_path, "worker", **{**worker, **local, "LOG_LEVEL": "error", **changes})
    assert named in refused(ended)


def test_the_web_process_tells_of_a_database_that_is_none(tmp_path: Path) -> None:
    """The sentence comes before the server starts, not as its traceback."""
    (tmp_path / "no.db").write_text("This is a letter, not a database. " * 100)
    url = f"sqlite:///{tmp_path / 'no.db'}"
    assert "DATABASE_URL" in refused(
        prism(tmp_path, "serve", WEBHOOK_SECRET=SECRET, DATABASE_URL=url)
    )
