"""`prism doctor` against the emulators: green when all is well, else what to do about a part."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from app.doctor import missing_permissions, run_doctor
from app.jobs.embedded import free_port
from app.settings import Settings, SettingsError
from emulator.github.hub import GitHub
from emulator.github.keys import AppKey
from emulator.github.running import running
from emulator.model.server import create_app
from emulator.serving import serving

PARTS = (
    "webhook secret",
    "data folder",
    "redis",
    "database",
    "model",
    "github app",
    "container engine",
)


@dataclass
class Practice:
    """Settings with which everything works, and the emulated GitHub behind them."""

    settings: Settings
    hub: GitHub
    screen: pytest.CaptureFixture[str]
    notes: dict[str, list[str]] = field(default_factory=dict)

    async def examine(self, **changes: object) -> tuple[int, dict[str, str]]:
        """The exit code, and each part's line without its mark."""
        settings = replace(self.settings, **changes)  # type: ignore[arg-type]  # names of fields
        code = await asyncio.to_thread(run_doctor, settings)
        self.notes = {}
        lines: dict[str, str] = {}
        for each in self.screen.readouterr().out.splitlines():
            if each.startswith("  – "):
                self.notes.setdefault(list(lines)[-1], []).append(each[4:])
            else:
                lines[each[2:].partition(": ")[0]] = each
        return code, lines

    async def complaint(self, part: str, **changes: object) -> str:
        """The one sentence about the only part that fails."""
        code, lines = await self.examine(**changes)
        bad = [name for name, line in lines.items() if line.startswith("✗")]
        assert (code, bad) == (1, [part]), lines
        assert tuple(lines)[: len(PARTS)] == PARTS
        return lines[part].partition(": ")[2]


@pytest.fixture
async def practice(
    tmp_path: Path, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> AsyncIterator[Practice]:
    """A healthy installation without isolation: most tests need no engine."""
    hub = GitHub(tmp_path / "github")
    with serving(create_app({})) as model_url:
        async with running(hub):
            settings = Settings(
                app_id=str(hub.app_id),
                private_key=hub.key.path.read_text(),
                webhook_secret="a-webhook-secret-of-tests-only-0123456789",
                redis_url=redis_url,
                ghe_host=hub.url.partition("://")[2],
                ghe_protocol="http",
                data_dir=tmp_path / "data",
                sandbox="process",
                anthropic_api_key="key",
                anthropic_base_url=model_url,
            )
            yield Practice(settings, hub, capsys)


@pytest.mark.engine
async def test_a_healthy_installation_is_green(practice: Practice) -> None:
    """Every part answers, with containers and the embedded Redis; the exit code is 0."""
    code, lines = await practice.examine(sandbox="docker", redis_url="")
    assert code == 0, lines
    assert tuple(lines) == (*PARTS, "sandbox", "base images", "system calls")
    assert all(line.startswith("✔") for line in lines.values())
    assert "Docker" in lines["container engine"]
    assert "docker, isolation: container, runtime runc" in lines["sandbox"]
    assert "NOT ISOLATED" not in lines["sandbox"]
    assert any(
        "this machine's kernel, which containers share" in note
        for note in practice.notes["sandbox"]
    )
    assert all(note.startswith("does not protect from ") for note in practice.notes["sandbox"])
    assert "python" in lines["base images"]
    assert "refused" in lines["system calls"]


async def test_no_isolation_is_marked(practice: Practice) -> None:
    """An installation that works without isolation says so where it says that it works."""
    code, lines = await practice.examine()
    assert code == 0, lines
    assert tuple(lines) == (*PARTS, "sandbox")
    assert "not isolated" in lines["container engine"]
    assert "NOT ISOLATED" in lines["sandbox"]
    assert "repository code that reads" in practice.notes["sandbox"][0]


async def test_attacks_are_for_containers(practice: Practice) -> None:
    """Without isolation it would be this machine that is attacked."""
    with pytest.raises(SettingsError, match="on containers only"):
        await asyncio.to_thread(run_doctor, practice.settings, True)


@pytest.mark.engine
async def test_a_runtime_the_engine_does_not_know(practice: Practice) -> None:
    """Which ones it does know, and what to do."""
    said = await practice.complaint("container engine", sandbox="docker", sandbox_runtime="runsc9")
    assert "no runtime 'runsc9'" in said
    assert "runc" in said
    assert "Register it with the engine, or unset it" in said


async def test_no_engine(practice: Practice, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to start or set."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    assert "Start Docker or set DOCKER_HOST" in await practice.complaint(
        "container engine", sandbox="docker"
    )


async def test_no_isolation_with_a_real_model(practice: Practice) -> None:
    """The backend without isolation is refused in front of a model elsewhere."""
    elsewhere = practice.settings.anthropic_base_url.replace("127.0.0.1", "127.1")
    said = await practice.complaint("container engine", anthropic_base_url=elsewhere)
    assert "isolates nothing" in said


async def test_a_weak_secret(practice: Practice) -> None:
    """How to make a good one."""
    said = await practice.complaint("webhook secret", webhook_secret="development")
    assert "openssl rand -hex 32" in said


async def test_a_data_folder_that_is_none(practice: Practice) -> None:
    """Which setting to change."""
    said = await practice.complaint("data folder", data_dir=Path("/dev/null/data"))
    assert "PRISM_DATA_DIR" in said


async def test_redis_is_down(practice: Practice) -> None:
    """What to check, and that none is needed on one machine."""
    said = await practice.complaint("redis", redis_url=f"redis://127.0.0.1:{free_port()}/0")
    assert "Check REDIS_URL, or unset it" in said


async def test_a_database_that_cannot_be_reached(practice: Practice, tmp_path: Path) -> None:
    """A file that is none, and a folder that cannot be: the same sentence."""
    (tmp_path / "letter").write_text("This is a letter, not a database. " * 100)
    for place in (tmp_path / "letter", Path("/dev/null/prism.db")):
        said = await practice.complaint("database", database_url=f"sqlite:///{place}")
        assert "Check DATABASE_URL" in said


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"anthropic_api_key": ""}, "Set ANTHROPIC_API_KEY"),
        ({"anthropic_api_key": "refused"}, "ANTHROPIC_API_KEY"),
        ({"anthropic_base_url": f"http://127.0.0.1:{free_port()}"}, "ANTHROPIC_BASE_URL"),
        ({"model": "unheard-of"}, "PRISM_PRICES"),
        ({"fallback_model": "unheard-of"}, "PRISM_PRICES"),
        ({"models": '{"judge": "unheard-of"}'}, "PRISM_PRICES"),
        ({"models": '{"jugde": "claude-opus-4-8"}'}, "The roles are"),
        ({"shares": '{"codes": 1}'}, "neither a stage nor a role"),
        ({"provider": "bedrock", "bedrock_base_url": "http://127.0.0.1:1"}, "AWS_REGION"),
    ],
)
async def test_a_model_that_does_not_answer(
    practice: Practice, changes: dict[str, object], named: str
) -> None:
    """Missing key, refused key, no host, no price: each names what to set."""
    assert named in await practice.complaint("model", **changes)


async def test_it_shows_who_answers_what(practice: Practice) -> None:
    """Every model with the roles it is named for; each of them is asked."""
    _, lines = await practice.examine(
        models='{"judge": "claude-opus-4-8"}',
        verdict_model="claude-haiku-4-5",
        fallback_model="claude-haiku-4-5",
    )
    found = lines["model"]
    assert "claude-sonnet-4-6 (default)" in found
    assert "claude-opus-4-8 (judge)" in found
    assert "claude-haiku-4-5 (verdict, fallback)" in found


async def test_the_apps_key_belongs_to_another_app(practice: Practice, tmp_path: Path) -> None:
    """GitHub refuses it; the sentence names the two settings that must fit."""
    other = AppKey.create(tmp_path / "other.pem").path.read_text()
    said = await practice.complaint("github app", private_key=other)
    assert "APP_ID and PRIVATE_KEY" in said


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"private_key": "-----BEGIN RSA PRIVATE KEY-----\nAA=="}, "PRIVATE_KEY"),
        ({"app_id": ""}, "app.yml"),
        ({"ghe_host": f"127.0.0.1:{free_port()}"}, "GHE_HOST"),
    ],
)
async def test_github_is_not_set_up(
    practice: Practice, changes: dict[str, object], named: str
) -> None:
    """A broken key, no App, no GitHub there."""
    assert named in await practice.complaint("github app", **changes)


async def test_a_permission_is_missing(practice: Practice) -> None:
    """Which one, and where to grant it."""
    practice.hub.permissions["contents"] = "read"
    del practice.hub.permissions["pull_requests"]
    said = await practice.complaint("github app")
    assert "contents: write, pull_requests: write" in said
    assert "App's settings" in said


def test_more_than_needed_is_enough() -> None:
    """A higher level includes the lower ones."""
    granted = {"contents": "admin", "issues": "write", "pull_requests": "write", "metadata": "read"}
    assert missing_permissions(granted) == ()
