"""Settings, read from the environment once; no other module reads it.

Names are Probot's where Probot has one (APP_ID, PRIVATE_KEY, WEBHOOK_SECRET, GHE_HOST, …) and
PRISM_… where the setting is ours. `docs/configuration.md` lists them; a test keeps it complete.
"""

import base64
import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

WEAK_SECRETS = frozenset({"", "development", "secret", "webhook_secret", "changeme", "password"})
MIN_SECRET_BYTES = 16
MIN_SECRET_CHARACTERS = 8  # different ones
MAX_PORT = 65_535
_REDIS = ("redis", "rediss", "unix")
_DRIVERS = {
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
}


class SettingsError(ValueError):
    """A setting is missing or wrong; the message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything an operator can set. `environ` names beside the fields are what is read."""

    app_id: str = ""  # APP_ID
    private_key: str = field(default="", repr=False)  # PRIVATE_KEY, PRIVATE_KEY_PATH
    webhook_secret: str = field(default="", repr=False)  # WEBHOOK_SECRET
    webhook_path: str = "/api/github/webhooks"  # WEBHOOK_PATH
    host: str = "127.0.0.1"  # HOST
    port: int = 3000  # PORT
    log_level: str = "info"  # LOG_LEVEL
    log_format: str = "json"  # LOG_FORMAT
    redis_url: str = ""  # REDIS_URL ("" = embedded)
    ghe_host: str = ""  # GHE_HOST
    ghe_protocol: str = "https"  # GHE_PROTOCOL
    database_url: str = ""  # DATABASE_URL ("" = SQLite in the data folder)
    public_url: str = ""  # PRISM_PUBLIC_URL ("" = no run pages are linked)
    data_dir: Path = Path("data")  # PRISM_DATA_DIR
    label: str = "prism-fix"  # PRISM_LABEL
    recipe: str = "prism"  # PRISM_RECIPE
    sandbox: str = "docker"  # PRISM_SANDBOX: docker | process
    sandbox_image: str = ""  # PRISM_SANDBOX_IMAGE ("" = the image make test builds)
    sandbox_images: str = ""  # PRISM_SANDBOX_IMAGES: per language, go=reference,rust=reference
    sandbox_runtime: str = ""  # PRISM_SANDBOX_RUNTIME ("" = the engine's own): runsc
    sandbox_ptrace: bool = False  # PRISM_SANDBOX_ALLOW_PTRACE: yes | no
    sandbox_memory_mb: int = 2048  # PRISM_SANDBOX_MEMORY_MB: of one workspace, and so below
    sandbox_cpus: float = 1.0  # PRISM_SANDBOX_CPUS
    sandbox_processes: int = 256  # PRISM_SANDBOX_PROCESSES
    sandbox_disk_mb: int = 4096  # PRISM_SANDBOX_DISK_MB
    sandbox_files: int = 200_000  # PRISM_SANDBOX_FILES
    sandbox_tmp_mb: int = 512  # PRISM_SANDBOX_TMP_MB
    setup_minutes: float = 15.0  # PRISM_SANDBOX_SETUP_MINUTES
    test_minutes: float = 20.0  # PRISM_SANDBOX_TEST_MINUTES
    test_budget_minutes: float = 10.0  # PRISM_TEST_BUDGET_MINUTES: longer suites run in part
    setup_hosts: str = ""  # PRISM_SETUP_HOSTS: what repositories may ask for
    setup_auth: str = field(default="", repr=False)  # PRISM_SETUP_AUTH: where passwords go as well
    setup_cache: str = ""  # PRISM_SETUP_CACHE: folder of downloaded packages
    socket_dir: str = ""  # PRISM_SOCKET_DIR: where set-ups meet their proxy
    socket_volume: str = ""  # PRISM_SOCKET_VOLUME: the volume that folder is the root of
    env_max_gb: float = 20.0  # PRISM_ENV_MAX_GB: stored environments, together
    env_max_days: float = 14.0  # PRISM_ENV_MAX_DAYS: unused ones are removed then
    max_parallel: int = 4  # PRISM_MAX_PARALLEL: agents at once in one run
    effort: str = "full"  # PRISM_EFFORT: full | lean | adaptive
    stop_early: bool = False  # PRISM_STOP_EARLY: yes | no
    vote: str = "soft"  # PRISM_VOTE: soft | majority
    contrast: str = "major"  # PRISM_CONTRAST: major | all4
    synthesis_scope: str = "cross"  # PRISM_SYNTHESIS_SCOPE: cross | branch
    branch_weights: str = "page"  # PRISM_BRANCH_WEIGHTS: page | code
    require_tests: bool = False  # PRISM_REQUIRE_TESTS: yes | no
    planner_turns: int = 60  # PRISM_PLANNER_TURNS
    coder_turns: int = 80  # PRISM_CODER_TURNS
    selector_turns: int = 30  # PRISM_SELECTOR_TURNS
    item_minutes: float = 30.0  # PRISM_ITEM_MINUTES: of one agent
    context_tokens: int = 0  # PRISM_CONTEXT_TOKENS: of an agent's call; 0 = as the models allow
    record: bool = True  # PRISM_RECORD: yes | no: texts of model calls and tools in the ledger
    record_days: float = 30.0  # PRISM_RECORD_DAYS: how long they stay
    record_mb: float = 64.0  # PRISM_RECORD_MB: of one run, compressed
    lease_s: float = 60.0  # PRISM_LEASE_SECONDS
    sweep_s: float = 30.0  # PRISM_SWEEP_SECONDS
    budget_usd: float = 5.0  # PRISM_BUDGET_USD: per run
    tokens: int = 0  # PRISM_TOKENS: per run, in and out together; 0 = no limit
    shares: str = ""  # PRISM_SHARES: JSON {stage or role: share of the budget}
    item_share: float = 0.3  # PRISM_ITEM_SHARE: of the budget, for one item
    provider: str = "anthropic"  # PRISM_PROVIDER: anthropic | bedrock | vertex
    anthropic_api_key: str = field(default="", repr=False)  # ANTHROPIC_API_KEY
    anthropic_base_url: str = "https://api.anthropic.com"  # ANTHROPIC_BASE_URL
    bedrock_token: str = field(default="", repr=False)  # AWS_BEARER_TOKEN_BEDROCK
    aws_secret_key: str = field(default="", repr=False)  # AWS_SECRET_ACCESS_KEY: kept out of texts
    aws_session_token: str = field(default="", repr=False)  # AWS_SESSION_TOKEN: the same
    bedrock_region: str = ""  # AWS_REGION
    bedrock_base_url: str = ""  # ANTHROPIC_BEDROCK_BASE_URL ("" = the region's)
    vertex_project: str = ""  # ANTHROPIC_VERTEX_PROJECT_ID
    vertex_region: str = ""  # CLOUD_ML_REGION
    vertex_base_url: str = ""  # ANTHROPIC_VERTEX_BASE_URL ("" = the region's)
    model: str = "claude-sonnet-4-6"  # PRISM_MODEL
    verdict_model: str = ""  # PRISM_VERDICT_MODEL ("" = the same): single verdicts
    models: str = ""  # PRISM_MODELS: JSON {role: model}, before the two above
    fallback_model: str = ""  # PRISM_FALLBACK_MODEL: for one that does not answer
    calls_per_minute: float = 0.0  # PRISM_CALLS_PER_MINUTE: with one key; 0 = no limit
    prices: str = ""  # PRISM_PRICES: JSON {model: [input, output]} in USD per million tokens

    @property
    def github_url(self) -> str:
        """Base of web pages and git over HTTP."""
        return f"{self.ghe_protocol}://{self.ghe_host}" if self.ghe_host else "https://github.com"

    @property
    def api_url(self) -> str:
        """Base of the REST API."""
        if self.ghe_host:
            return f"{self.ghe_protocol}://{self.ghe_host}/api/v3"
        return "https://api.github.com"

    @property
    def database(self) -> str:
        """SQLAlchemy URL with an async driver."""
        if self.database_url:
            scheme, _, rest = self.database_url.partition(":")
            return f"{_DRIVERS.get(scheme, scheme)}:{rest}"
        return f"sqlite+aiosqlite:///{self._database_file}"

    @property
    def has_database(self) -> bool:
        """Whether there is a database to open: one that is named, or the data folder's file."""
        return bool(self.database_url) or self._database_file.exists()

    @property
    def _database_file(self) -> Path:
        return self.data_dir.absolute() / "prism.db"

    @property
    def model_url(self) -> str:
        """Base of the model API in force, "" where the cloud's region decides."""
        clouds = {"bedrock": self.bedrock_base_url, "vertex": self.vertex_base_url}
        return clouds.get(self.provider, self.anthropic_base_url)

    @property
    def model_is_local(self) -> bool:
        """Whether the model API is on this machine (an emulator): nothing leaves it."""
        host = urlsplit(self.model_url).hostname or ""
        return host in {"127.0.0.1", "localhost", "::1"}


def read_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read and cast every setting; raises SettingsError naming the first bad one."""
    get = _Reader(environ)
    default = Settings()
    return Settings(
        app_id=get.text("APP_ID"),
        private_key=_private_key(environ),
        webhook_secret=get.text("WEBHOOK_SECRET"),
        webhook_path=get.text("WEBHOOK_PATH", default.webhook_path),
        host=get.text("HOST", default.host),
        port=get.port("PORT", default.port),
        log_level=get.text("LOG_LEVEL", default.log_level).lower(),
        log_format=get.choice("LOG_FORMAT", default.log_format, ("json", "pretty")),
        redis_url=get.url("REDIS_URL", _REDIS),
        ghe_host=get.text("GHE_HOST"),
        ghe_protocol=get.choice("GHE_PROTOCOL", default.ghe_protocol, ("https", "http")),
        database_url=get.url("DATABASE_URL", tuple(_DRIVERS)),
        public_url=get.url("PRISM_PUBLIC_URL", ("http", "https")).rstrip("/"),
        data_dir=Path(get.text("PRISM_DATA_DIR", "data")),
        label=get.text("PRISM_LABEL", default.label),
        recipe=get.choice("PRISM_RECIPE", default.recipe, ("prism",)),
        sandbox=get.choice("PRISM_SANDBOX", default.sandbox, ("docker", "process")),
        **_sandbox(get, default),
        max_parallel=int(get.number("PRISM_MAX_PARALLEL", default.max_parallel)),
        **_method(get, default),
        record=get.choice("PRISM_RECORD", "yes", ("yes", "no")) == "yes",
        record_days=get.number("PRISM_RECORD_DAYS", default.record_days),
        record_mb=get.number("PRISM_RECORD_MB", default.record_mb),
        lease_s=get.number("PRISM_LEASE_SECONDS", default.lease_s),
        sweep_s=get.number("PRISM_SWEEP_SECONDS", default.sweep_s),
        budget_usd=get.number("PRISM_BUDGET_USD", default.budget_usd),
        **_model(get, default),
    )


def _model(get: "_Reader", default: Settings) -> dict[str, Any]:
    """The fields about models, their provider and what they may cost beside the budget."""
    kinds = ("anthropic", "bedrock", "vertex")
    return {
        "tokens": int(get.number("PRISM_TOKENS", default.tokens, none=0)),
        "shares": get.text("PRISM_SHARES"),
        "item_share": get.number("PRISM_ITEM_SHARE", default.item_share, most=1),
        "provider": get.choice("PRISM_PROVIDER", default.provider, kinds),
        "anthropic_api_key": get.text("ANTHROPIC_API_KEY"),
        "anthropic_base_url": get.text("ANTHROPIC_BASE_URL", default.anthropic_base_url),
        "bedrock_token": get.text("AWS_BEARER_TOKEN_BEDROCK"),
        "aws_secret_key": get.text("AWS_SECRET_ACCESS_KEY"),
        "aws_session_token": get.text("AWS_SESSION_TOKEN"),
        "bedrock_region": get.text("AWS_REGION"),
        "bedrock_base_url": get.text("ANTHROPIC_BEDROCK_BASE_URL"),
        "vertex_project": get.text("ANTHROPIC_VERTEX_PROJECT_ID"),
        "vertex_region": get.text("CLOUD_ML_REGION"),
        "vertex_base_url": get.text("ANTHROPIC_VERTEX_BASE_URL"),
        "model": get.text("PRISM_MODEL", default.model),
        "verdict_model": get.text("PRISM_VERDICT_MODEL"),
        "models": get.text("PRISM_MODELS"),
        "fallback_model": get.text("PRISM_FALLBACK_MODEL"),
        "calls_per_minute": get.number("PRISM_CALLS_PER_MINUTE", 0.0, none=0),
        "prices": get.text("PRISM_PRICES"),
    }


def _method(get: "_Reader", default: Settings) -> dict[str, Any]:
    """The fields about how candidates are made and chosen."""
    return {
        "effort": get.choice("PRISM_EFFORT", default.effort, ("full", "lean", "adaptive")),
        "stop_early": get.choice("PRISM_STOP_EARLY", "no", ("yes", "no")) == "yes",
        "vote": get.choice("PRISM_VOTE", default.vote, ("soft", "majority")),
        "contrast": get.choice("PRISM_CONTRAST", default.contrast, ("major", "all4")),
        "synthesis_scope": get.choice(
            "PRISM_SYNTHESIS_SCOPE", default.synthesis_scope, ("cross", "branch")
        ),
        "branch_weights": get.choice(
            "PRISM_BRANCH_WEIGHTS", default.branch_weights, ("page", "code")
        ),
        "require_tests": get.choice("PRISM_REQUIRE_TESTS", "no", ("yes", "no")) == "yes",
        "planner_turns": get.whole("PRISM_PLANNER_TURNS", default.planner_turns, 2),
        "coder_turns": get.whole("PRISM_CODER_TURNS", default.coder_turns, 2),
        "selector_turns": get.whole("PRISM_SELECTOR_TURNS", default.selector_turns, 2),
        "item_minutes": get.number("PRISM_ITEM_MINUTES", default.item_minutes),
        "context_tokens": int(get.number("PRISM_CONTEXT_TOKENS", default.context_tokens, none=0)),
        "test_budget_minutes": get.number("PRISM_TEST_BUDGET_MINUTES", default.test_budget_minutes),
    }


def _sandbox(get: "_Reader", default: Settings) -> dict[str, Any]:
    """The fields about images, runtime and limits of the sandbox."""
    ptrace = get.choice("PRISM_SANDBOX_ALLOW_PTRACE", "no", ("yes", "no"))
    return {
        "sandbox_image": get.text("PRISM_SANDBOX_IMAGE"),
        "sandbox_images": get.text("PRISM_SANDBOX_IMAGES"),
        "sandbox_runtime": get.text("PRISM_SANDBOX_RUNTIME"),
        "sandbox_ptrace": ptrace == "yes",
        "sandbox_memory_mb": get.whole("PRISM_SANDBOX_MEMORY_MB", default.sandbox_memory_mb, 64),
        "sandbox_cpus": get.number("PRISM_SANDBOX_CPUS", default.sandbox_cpus, 0.1),
        "sandbox_processes": get.whole("PRISM_SANDBOX_PROCESSES", default.sandbox_processes, 16),
        "sandbox_disk_mb": get.whole("PRISM_SANDBOX_DISK_MB", default.sandbox_disk_mb, 64),
        "sandbox_files": get.whole("PRISM_SANDBOX_FILES", default.sandbox_files, 1000),
        "sandbox_tmp_mb": get.whole("PRISM_SANDBOX_TMP_MB", default.sandbox_tmp_mb, 16),
        "setup_minutes": get.number("PRISM_SANDBOX_SETUP_MINUTES", default.setup_minutes),
        "test_minutes": get.number("PRISM_SANDBOX_TEST_MINUTES", default.test_minutes),
        "env_max_gb": get.number("PRISM_ENV_MAX_GB", default.env_max_gb),
        "env_max_days": get.number("PRISM_ENV_MAX_DAYS", default.env_max_days),
        "setup_hosts": get.text("PRISM_SETUP_HOSTS"),
        "setup_auth": get.text("PRISM_SETUP_AUTH"),
        "setup_cache": get.text("PRISM_SETUP_CACHE"),
        "socket_dir": get.text("PRISM_SOCKET_DIR"),
        "socket_volume": get.text("PRISM_SOCKET_VOLUME"),
    }


def require_webhook_secret(settings: Settings) -> None:
    """Refuse to start with an empty, short, monotonous or well-known webhook secret."""
    secret = settings.webhook_secret
    is_short = len(secret.encode()) < MIN_SECRET_BYTES or len(set(secret)) < MIN_SECRET_CHARACTERS
    if secret.lower() in WEAK_SECRETS or is_short:
        raise SettingsError(
            f"WEBHOOK_SECRET must be a random text of at least {MIN_SECRET_BYTES} bytes with "
            f"{MIN_SECRET_CHARACTERS} different characters; make one with `openssl rand -hex 32` "
            "and enter the same in the App's settings."
        )


def require_data_dir(settings: Settings) -> None:
    """Make the data folder; raises SettingsError when it cannot be made or written into.

    A new one is for this user alone: it holds the ledger and mirrors of private repositories.
    """
    try:
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.data_dir):
            pass
    except OSError as error:
        raise SettingsError(
            f"PRISM_DATA_DIR: {settings.data_dir} cannot be written into ({error.strerror}). "
            "Name a folder that this user may write into."
        ) from error


@dataclass(frozen=True, slots=True)
class _Reader:
    environ: Mapping[str, str]

    def text(self, name: str, default: str = "") -> str:
        return self.environ.get(name, "").strip() or default

    def url(self, name: str, schemes: tuple[str, ...]) -> str:
        value = self.text(name)
        scheme, colon, _ = value.partition("://")
        if value and not (colon and scheme in schemes):  # the value may hold a password
            allowed = ", ".join(f"{each}://" for each in schemes)
            raise SettingsError(f"{name} must start with one of {allowed}.")
        return value

    def number(
        self,
        name: str,
        default: float,
        least: float = 0.0,
        none: float | None = None,
        most: float = math.inf,
    ) -> float:
        """The number; `none` is the one allowed value that is not above 0."""
        raw = self.text(name)
        try:
            value = float(raw) if raw else default
        except ValueError:
            raise SettingsError(f"{name} must be a number, not {raw!r}.") from None
        if value != none and not 0 < value < math.inf:
            raise SettingsError(f"{name} must be a number greater than 0, not {raw!r}.")
        if value < least:
            raise SettingsError(f"{name} must be at least {least:g}, not {raw}.")
        if value > most:
            raise SettingsError(f"{name} must be at most {most:g}, not {raw}.")
        return value

    def whole(self, name: str, default: int, least: int) -> int:
        return int(self.number(name, default, least))

    def port(self, name: str, default: int) -> int:
        value = self.number(name, default)
        if value > MAX_PORT or value != int(value):
            raise SettingsError(f"{name} must be a whole number from 1 to {MAX_PORT}.")
        return int(value)

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        value = self.text(name, default).lower()
        if value not in allowed:
            raise SettingsError(f"{name} must be one of {', '.join(allowed)}, not {value!r}.")
        return value


def _private_key(environ: Mapping[str, str]) -> str:
    """PEM from PRIVATE_KEY (raw, with \\n escapes, or base64), else from PRIVATE_KEY_PATH."""
    raw = environ.get("PRIVATE_KEY", "").strip()
    path = environ.get("PRIVATE_KEY_PATH", "").strip()
    if not raw and path:
        try:
            raw = Path(path).read_text(encoding="ascii")
        except OSError as error:
            raise SettingsError(f"PRIVATE_KEY_PATH cannot be read: {error.strerror}.") from None
    if not raw:
        return ""
    pem = raw.replace("\\n", "\n")
    if not pem.startswith("-----BEGIN"):
        try:
            pem = base64.b64decode("".join(raw.split()), validate=True).decode("ascii")
        except ValueError:
            pem = ""
    if not pem.startswith("-----BEGIN"):
        raise SettingsError("PRIVATE_KEY is neither a PEM nor base64 of one.")
    return pem
