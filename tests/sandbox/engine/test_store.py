"""Which stored environments go, and that those really leave the engine."""

from pathlib import Path

import pytest

from sandbox.base import EnvironmentPlan
from sandbox.docker import DockerSandbox
from sandbox.engine.client import Engine, ImageNotFound
from sandbox.engine.state import EnvironmentState
from sandbox.engine.store import Stored, prune, surplus
from tests.sandbox.conftest import INSTANCE, MakeSource

HOUR = 3600.0
NOW = 1_000 * 24 * HOUR


def stored(name: str, hours: float, **layers: int) -> Stored:
    """An environment last used some hours ago."""
    used = NOW - hours * HOUR
    return Stored(name, "environment", "1/shop", "c", "k", used, used, "", {name: 1, **layers})


def names(items: list[Stored]) -> str:
    return "".join(item.image for item in items)


def gone(items: list[Stored], max_bytes: int, hours: float = 1000, busy: str = "") -> str:
    return names(surplus(items, set(busy), NOW, max_bytes, hours * HOUR))


def test_the_longest_unused_go_first() -> None:
    """Until what is left fits, and not one more."""
    items = [stored("a", 5), stored("b", 7), stored("c", 6)]
    assert [gone(items, size) for size in (3, 2, 1, 0)] == ["", "b", "bc", "bca"]


def test_age_counts_without_pressure() -> None:
    """What nobody used for long goes however much room there is."""
    assert gone([stored("a", 30), stored("b", 3)], 100, hours=24) == "a"


def test_nothing_in_use_goes() -> None:
    """Neither what has a container nor what was used within the hour, even if too much stays."""
    items = [stored("a", 50), stored("b", 40), stored("c", 0.5)]
    assert gone(items, 0, hours=24, busy="a") == "b"


def test_shared_bytes_count_once() -> None:
    """Environments on the same installation take its bytes once, and free them with the last."""
    items = [stored("a", 5, deps=10), stored("b", 6, deps=10), stored("c", 7, other=10)]
    assert gone(items, 22) == "c"
    assert gone(items, 11) == "cb"
    assert gone(items, 10) == "cba"


@pytest.mark.engine
async def test_on_an_engine(make_source: MakeSource, tmp_path: Path) -> None:
    """What is stored is listed with its owner, size and tests; pruning removes all its images."""
    instance = f"{INSTANCE}-store"
    source = make_source({"a.sh": "exit 0\n"})
    plan = EnvironmentPlan(
        "unknown", ("head -c 3000000 /dev/urandom > ~/x",), "sh a.sh", "exit_code", "t"
    )
    sandbox, engine = DockerSandbox(instance=instance, data_dir=tmp_path), Engine()
    state = EnvironmentState(tmp_path / "environments")
    try:
        environment = await sandbox.prepare(source, plan, "run-store")
        found = {item.kind: item for item in await sandbox.stored()}
        assert set(found) == {"environment", "dependencies"}
        item = found["environment"]
        assert (item.image, item.tests) == (environment.reference, "1/1")
        assert (item.repository, item.commit) == (source.repository, source.base_commit)
        assert 3_000_000 < item.bytes < 6_000_000
        assert found["dependencies"].used == item.used
        assert await sandbox.prune(0, 0) == []  # used just now

        later = item.used + 2 * HOUR
        async with sandbox.workspace(environment, "verify", "run-store"):
            kept = await engine.call(lambda c: prune(c, instance, state, 0, 0, later))
            assert environment.reference not in {item.image for item in kept}
        await engine.call(lambda c: prune(c, instance, state, 0, 0, later + 2 * HOUR))
        assert await sandbox.stored() == []
        for image in found["environment"].layers:
            with pytest.raises(ImageNotFound):
                await engine.call(lambda c, image=image: c.api.inspect_image(image))
    finally:
        await sandbox.remove_environments(source.repository)
        await sandbox.close()
        await engine.close()
