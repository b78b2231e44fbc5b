"""What settings make of the sandbox and the model."""

from pathlib import Path

import pytest

from app.services import limits_of, open_backend, open_model
from app.settings import Settings, SettingsError, read_settings
from pipeline.model.pace import LocalPace, Rate
from sandbox.base import Limits
from tests.fakes import MemoryBudget


def test_limits_are_the_sandboxs_own_unless_set() -> None:
    """The defaults are written twice, in settings and in the sandbox, and must not part."""
    assert limits_of(read_settings({})) == Limits()


def test_every_limit_reaches_the_sandbox() -> None:
    """Each variable changes the limit it is named for, minutes become seconds."""
    environ = {
        "PRISM_SANDBOX_MEMORY_MB": "512",
        "PRISM_SANDBOX_CPUS": "0.5",
        "PRISM_SANDBOX_PROCESSES": "64",
        "PRISM_SANDBOX_DISK_MB": "100",
        "PRISM_SANDBOX_FILES": "5000",
        "PRISM_SANDBOX_TMP_MB": "32",
        "PRISM_SANDBOX_SETUP_MINUTES": "2.5",
        "PRISM_SANDBOX_TEST_MINUTES": "3",
    }
    expected = Limits(
        memory_mb=512,
        cpus=0.5,
        pids=64,
        tmp_mb=32,
        disk_mb=100,
        files=5000,
        setup_timeout_s=150.0,
        test_timeout_s=180.0,
    )
    assert limits_of(read_settings(environ)) == expected


async def test_the_runtimes_kernel_shows_before_the_engine_was_asked(tmp_path: Path) -> None:
    """Reports are written also when the engine is away, and name what the operator chose."""
    for runtime, isolation in (("", "container"), ("runsc", "user-space kernel")):
        backend = open_backend(Settings(data_dir=tmp_path, sandbox_runtime=runtime))
        assert backend.isolation == isolation
        await backend.close()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("PRISM_SETUP_HOSTS", Settings(setup_hosts="https://files.example.org/x")),
        ("PRISM_SETUP_AUTH", Settings(setup_auth="https://a.test/x b.test/files")),
        ("PRISM_SETUP_AUTH", Settings(setup_auth="https://me:a/b@c.test/")),
        ("PRISM_SANDBOX_IMAGES", Settings(sandbox_images="cobol=image")),
        ("PRISM_SANDBOX_IMAGES", Settings(sandbox_images="go")),
    ],
)
def test_a_list_that_is_none_is_refused_at_the_start(name: str, settings: Settings) -> None:
    """A slip would otherwise show only when the first repository needs it."""
    with pytest.raises(SettingsError, match=name):
        open_backend(settings)


def test_a_run_without_a_worker_keeps_to_the_rate() -> None:
    """`prism fix` and `prism eval` share no pace with anybody, but have one."""
    settings = read_settings({"ANTHROPIC_API_KEY": "key", "PRISM_CALLS_PER_MINUTE": "30"})
    pace = open_model(settings, MemoryBudget(), "run").traffic.pace
    assert isinstance(pace, LocalPace)
    assert pace.rate == Rate(30)
