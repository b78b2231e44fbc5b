"""Build what a run needs from settings: the one place where backends and models are chosen."""

import hashlib
import os
import socket
from dataclasses import replace

from app.models import asked_models, key_of, lone_traffic, models_of, provider_of
from app.settings import Settings, SettingsError
from pipeline.jsonable import from_json
from pipeline.model.clients import require_access
from pipeline.model.contexts import context_tokens
from pipeline.model.gateway import AnthropicModel, Traffic
from pipeline.model.prices import read_prices
from pipeline.services import Budget, Recorder, RunConfig
from sandbox.backends import open_sandbox
from sandbox.base import Limits
from sandbox.docker import DockerSandbox, EngineOptions
from sandbox.engine.images import parse_images
from sandbox.errors import EngineUnavailable
from sandbox.network.allow import SETTING, operator_entries
from sandbox.network.egress import CACHE
from sandbox.network.registries import AUTH, further_addresses
from sandbox.network.sockets import DIRECTORY, VOLUME
from sandbox.process import ProcessSandbox

Backend = DockerSandbox | ProcessSandbox


def open_model(
    settings: Settings,
    budget: Budget,
    run: str,
    recorder: Recorder | None = None,
    traffic: Traffic | None = None,
) -> AnthropicModel:
    """The model gateway of one run, before anything is prepared or spent.

    `traffic` is what all runs of a worker share, None without one. Raises ModelRejected without
    a key, PriceUnknown for a model that cannot be budgeted, RoleUnknown for settings that name no
    role.
    """
    provider, key = provider_of(settings), key_of(settings)
    require_access(provider, key)
    models = models_of(settings)
    return AnthropicModel(
        api_key=key,
        base_url=settings.model_url,
        model=models.default,
        verdict_model="",
        budget=budget,
        run=run,
        prices=read_prices(settings.prices),
        recorder=recorder,
        by_role=models.by_role,
        fallback=settings.fallback_model,
        provider=provider,
        traffic=traffic or lone_traffic(settings),
    )


def open_backend(settings: Settings, limits: Limits | None = None) -> Backend:
    """The sandbox in force; nothing is contacted yet. Await `close()` at the end.

    `limits` stand in for those of the settings.

    Raises SettingsError when the process backend is asked for with a model that is not on this
    machine: what such a model orders must be isolated. So it does for what cannot be used.
    """
    if settings.sandbox == "process" and not settings.model_is_local:
        raise SettingsError(
            "PRISM_SANDBOX=process isolates nothing, so it is allowed only with a model on this "
            "machine (ANTHROPIC_BASE_URL on 127.0.0.1). Install a container engine, or unset it."
        )
    try:
        operator_entries({SETTING: settings.setup_hosts})
    except ValueError as error:
        raise SettingsError(f"{SETTING}: {error}") from error
    try:
        further_addresses({AUTH: settings.setup_auth})
    except ValueError as error:
        raise SettingsError(f"{AUTH}: {error}") from error
    try:
        images = parse_images(settings.sandbox_images)
    except ValueError as error:
        raise SettingsError(f"PRISM_SANDBOX_IMAGES: {error}") from error
    return open_sandbox(
        settings.sandbox,
        data_dir=settings.data_dir / "sandbox",
        options=EngineOptions(
            image=settings.sandbox_image,
            images=images,
            runtime=settings.sandbox_runtime,
            allow_ptrace=settings.sandbox_ptrace,
        ),
        limits=limits or limits_of(settings),
        instance=instance_of(settings),
        allow_process=settings.model_is_local,
        environ=setup_environ(settings),
    )


def setup_environ(settings: Settings) -> dict[str, str]:
    """This process's environment with what the settings say about set-ups."""
    said = {
        SETTING: settings.setup_hosts,
        AUTH: settings.setup_auth,
        CACHE: settings.setup_cache,
        DIRECTORY: settings.socket_dir,
        VOLUME: settings.socket_volume,
    }
    others = {name: value for name, value in os.environ.items() if name not in said}
    return others | {name: value for name, value in said.items() if value}


def limits_of(settings: Settings) -> Limits:
    """What one workspace may use."""
    return Limits(
        memory_mb=settings.sandbox_memory_mb,
        cpus=settings.sandbox_cpus,
        pids=settings.sandbox_processes,
        tmp_mb=settings.sandbox_tmp_mb,
        disk_mb=settings.sandbox_disk_mb,
        files=settings.sandbox_files,
        setup_timeout_s=settings.setup_minutes * 60,
        test_timeout_s=settings.test_minutes * 60,
    )


async def engine_problem(settings: Settings) -> str:
    """Why containers cannot be used here, in a sentence that says what to do; "" when they can."""
    backend = open_backend(replace(settings, sandbox="docker"))
    try:
        await backend.check_engine()
    except EngineUnavailable as error:
        return str(error)
    finally:
        await backend.close()
    return ""


def instance_of(settings: Settings) -> str:
    """A label that tells this installation's containers from those of others on the engine."""
    place = f"{socket.gethostname()}:{settings.data_dir.absolute()}"
    return f"prism-{hashlib.sha256(place.encode()).hexdigest()[:12]}"


def run_config(settings: Settings) -> RunConfig:
    """What the operator says about every run; a repository may say otherwise for itself."""
    said: dict[str, object] = {
        "effort": settings.effort,
        "vote": settings.vote,
        "contrast": settings.contrast,
        "synthesis_scope": settings.synthesis_scope,
        "branch_weights": settings.branch_weights,
        "stop_early": settings.stop_early,
        "require_tests": settings.require_tests,
        "planner_turns": settings.planner_turns,
        "coder_turns": settings.coder_turns,
        "selector_turns": settings.selector_turns,
        "test_budget_s": settings.test_budget_minutes * 60,
        "max_parallel": settings.max_parallel,
        "item_minutes": settings.item_minutes,
        "context_tokens": settings.context_tokens or context_tokens(asked_models(settings)),
    }
    return from_json(RunConfig, said)
