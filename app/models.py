"""What the settings say about models: who answers, where, how fast and how much of it."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.jobs.pace import RedisPace
from app.settings import Settings
from pipeline.caps import Caps, read_shares
from pipeline.model.circuit import Circuits
from pipeline.model.clients import Provider
from pipeline.model.gateway import Traffic
from pipeline.model.pace import LocalPace, Rate
from pipeline.model.prices import price_of, read_prices
from pipeline.model.roles import RoleModels, read_models


def models_of(settings: Settings) -> RoleModels:
    """Which model answers which role; raises RoleUnknown."""
    return read_models(settings.models, settings.model, settings.verdict_model)


def asked_models(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Every model that may be asked and the roles it is named for; raises RoleUnknown."""
    found = models_of(settings).models()
    if name := settings.fallback_model:
        found[name] = (*found.get(name, ()), "fallback")
    return found


def require_models(settings: Settings) -> None:
    """Refuse to start with a role, a share or a price that is unknown; costs no call."""
    prices = read_prices(settings.prices)
    for name in asked_models(settings):
        price_of(name, prices)
    read_shares(settings.shares)


def provider_of(settings: Settings) -> Provider:
    """Whose API the settings name."""
    if settings.provider == "bedrock":
        return Provider("bedrock", settings.bedrock_region)
    if settings.provider == "vertex":
        return Provider("vertex", settings.vertex_region, settings.vertex_project)
    return Provider()


def key_of(settings: Settings) -> str:
    """The key for the provider in force, "" where its own usual credentials are taken."""
    keys = {"anthropic": settings.anthropic_api_key, "bedrock": settings.bedrock_token}
    return keys.get(settings.provider, "")


def caps_of(settings: Settings) -> Caps:
    """What a run may use besides its money; raises RoleUnknown."""
    return Caps(settings.tokens, read_shares(settings.shares), settings.item_share)


def lone_traffic(settings: Settings) -> Traffic:
    """For a run without a worker: it keeps to the rate by itself."""
    return Traffic(LocalPace(Rate(settings.calls_per_minute)))


@asynccontextmanager
async def open_traffic(settings: Settings, redis_url: str) -> AsyncIterator[Traffic]:
    """What the runs of one worker share; its pace is that of all workers on the same Redis."""
    place = f"{settings.provider} {settings.model_url} {key_of(settings)}"
    name = hashlib.sha256(place.encode()).hexdigest()[:16]
    pace = RedisPace(redis_url, name, Rate(settings.calls_per_minute))
    try:
        yield Traffic(pace, Circuits(settings.sweep_s))
    finally:
        await pace.close()
