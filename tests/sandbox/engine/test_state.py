"""Locks, failures and notes on environments that the workers of a machine share."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from sandbox.engine.state import FAILURE_S, NETWORK_FAILURE_S, EnvironmentState, is_network
from sandbox.errors import SetupFailed

HOLD = """
import asyncio, sys
from pathlib import Path
from sandbox.engine.state import EnvironmentState

async def hold():
    async with EnvironmentState(Path(sys.argv[1])).alone("key"):
        print("held", flush=True)
        await asyncio.sleep(600)

asyncio.run(hold())
"""


async def test_a_dead_holder_blocks_nobody(tmp_path: Path) -> None:
    """Another process's lock is waited for, and goes with the process, however that ends."""
    state = EnvironmentState(tmp_path)
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD, str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"held\n"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3), state.alone("key"):
                pytest.fail("two had the lock")
        async with state.alone("other key"):
            pass
        holder.kill()
        async with asyncio.timeout(30), state.alone("key"):
            pass
    finally:
        if holder.returncode is None:
            holder.kill()
        await holder.communicate()


async def test_one_after_the_other(tmp_path: Path) -> None:
    """Within one process too, also when the first one fails."""
    state, inside = EnvironmentState(tmp_path), 0

    async def work() -> None:
        nonlocal inside
        async with state.alone("key"):
            inside += 1
            assert inside == 1
            await asyncio.sleep(0.01)
            inside -= 1
            raise LookupError

    ended = await asyncio.gather(*(work() for _ in range(5)), return_exceptions=True)
    assert [type(end) for end in ended] == [LookupError] * 5


@pytest.mark.parametrize(
    ("log", "denied", "kept_s"),
    [
        ("error: no matching distribution\n", (), FAILURE_S),
        ("npm ERR! code EAI_AGAIN\n", (), NETWORK_FAILURE_S),
        ("curl: (6) Could not resolve host: a.example\n", ("a.example",), FAILURE_S),
    ],
)
def test_failures_are_kept_for_a_while(
    tmp_path: Path, log: str, denied: tuple[str, ...], kept_s: float
) -> None:
    """With all that was known; for an hour, or a minute when the network may be why."""
    state = EnvironmentState(tmp_path)
    state.remember_failure("1/shop", "key", SetupFailed("pip install x", 1, log, denied))
    again = state.failure("1/shop", "key")
    assert again is not None
    assert (again.line, again.exit_code, again.log) == ("pip install x", 1, log)
    assert again.denied == denied
    assert state.failure("1/shop", "other") is None
    assert state.failure("2/shop", "key") is None
    (file,) = (tmp_path / "failures").iterdir()
    for age, kept in ((kept_s - 10, True), (kept_s + 10, False)):
        then = file.stat().st_ctime - age
        os.utime(file, (then, then))
        assert (state.failure("1/shop", "key") is not None) is kept


def test_failures_are_forgotten_by_repository(tmp_path: Path) -> None:
    """One that asks for another attempt gets it; others' failures stay."""
    state = EnvironmentState(tmp_path)
    for repository, key in (("1/a", "x"), ("1/a", "y"), ("1/b", "x")):
        state.remember_failure(repository, key, SetupFailed("x", 1, ""))
    assert state.forget_failures("1/a") == 2
    assert state.failure("1/a", "x") is None
    assert state.failure("1/b", "x") is not None


def test_a_damaged_record_is_none(tmp_path: Path) -> None:
    """A file that a full disk cut short stops no set-up."""
    state = EnvironmentState(tmp_path)
    state.remember_failure("1/a", "x", SetupFailed("x", 1, ""))
    (file,) = (tmp_path / "failures").iterdir()
    for text in ("", "[]", '{"line": 1}'):
        file.write_text(text)
        assert state.failure("1/a", "x") is None


@pytest.mark.parametrize(
    "line",
    [
        "pip._vendor.urllib3: Temporary failure in name resolution",
        "npm error errno ETIMEDOUT",
        "fatal: unable to access: Could not resolve host: example.org",
        "Get https://proxy.example/: dial tcp: i/o timeout",
        "ERROR: HTTP error 503 Service Unavailable while getting x",
    ],
)
def test_network_failures_are_recognised(line: str) -> None:
    """By what the usual installers print."""
    assert is_network(SetupFailed("x", 1, line))
    assert not is_network(SetupFailed("x", 1, line, ("example.org",)))


def test_notes_on_lost_images_go(tmp_path: Path) -> None:
    """When an image was used is known as long as there is the image."""
    state = EnvironmentState(tmp_path)
    state.used("sha256:aa")
    state.used("sha256:bb")
    state.tidy({"sha256:aa"})
    assert state.last_used("sha256:aa") > 0
    assert state.last_used("sha256:bb") == 0.0
