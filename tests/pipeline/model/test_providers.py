"""Bedrock and Vertex speak the same through their own addresses, credentials and frames."""

from typing import Any

import pytest

from emulator.model.scripted import call, say
from pipeline.errors import KeyRefused, ModelRejected, ModelUnavailable
from pipeline.model.clients import Provider, require_access
from pipeline.model.gateway import AnthropicModel
from pipeline.services import CallAddress, ModelRequest, ToolSpec
from tests.fakes import MemoryBudget, emulated_model
from tests.pipeline.model.test_gateway import log, order

SCRIPT = {"code/G1/0": [say("Thinking."), call("view", path="ä.py")]}
REQUEST = ModelRequest(
    CallAddress("code", "G1", "0"),
    "coder",
    "s" * 6000,
    ({"role": "user", "content": "go"},),
    (ToolSpec("view", "See.", {"type": "object"}),),
)
CLOUDS = {
    "bedrock": (
        Provider("bedrock", "eu-central-1"),
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "",
    ),
    "vertex": (Provider("vertex", "europe-west1", "shop"), "claude-sonnet-4-5@20250929", "/v1"),
}


def model_of(kind: str, url: str, key: str = "token", **more: Any) -> AnthropicModel:
    """The gateway for a cloud whose address is the emulator's."""
    provider, name, path = CLOUDS[kind]
    return AnthropicModel(
        key, url + path, name, "", MemoryBudget(), "r", backoff_s=0.01, provider=provider, **more
    )


@pytest.mark.parametrize("kind", CLOUDS)
async def test_a_call_arrives_and_its_answer_is_read(kind: str) -> None:
    """Content, usage, cache and address are as with the plain API."""
    with emulated_model(SCRIPT) as url:
        async with model_of(kind, url) as model:
            first, second = await model.complete(REQUEST), await model.complete(REQUEST)
        entries = await log(url)
    assert first.content[1]["input"] == {"path": "ä.py"}
    assert first.stop_reason == "tool_use"
    assert second.usage.cached_tokens > 1400
    assert [(each["address"], each["model"]) for each in entries] == [
        ("code/G1/0", CLOUDS[kind][1])
    ] * 2


@pytest.mark.parametrize("kind", CLOUDS)
async def test_faults_mean_the_same(kind: str) -> None:
    """Overload, a cut and an error within the stream are tried again, a refused key is not."""
    with emulated_model(SCRIPT) as url:
        async with model_of(kind, url) as model:
            for fault in ({"kind": "529"}, {"kind": "cut"}, {"kind": "sse_error"}):
                await order(url, "faults", **fault)
                assert (await model.complete(REQUEST)).stop_reason == "tool_use"
            await order(url, "faults", kind="403")
            with pytest.raises(KeyRefused, match="credentials"):
                await model.complete(REQUEST)


async def test_bedrock_signs_with_the_workers_own_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a key the request is signed; without credentials every run is parked."""
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    with emulated_model(SCRIPT) as url:
        async with model_of("bedrock", url, key="") as model:
            with pytest.raises(KeyRefused, match="There are no credentials"):
                await model.complete(REQUEST)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example")
        provider = Provider("bedrock", "eu-west-1")  # another region: sessions are kept by region
        async with model_of("bedrock", url, key="") as model:
            model.provider = provider
            assert (await model.complete(REQUEST)).stop_reason == "tool_use"


@pytest.mark.parametrize(
    ("provider", "key", "said"),
    [
        (Provider(), "", "ANTHROPIC_API_KEY"),
        (Provider("bedrock"), "k", "AWS_REGION"),
        (Provider("vertex", "europe-west1"), "", "ANTHROPIC_VERTEX_PROJECT_ID"),
        (Provider("vertex", "", "shop"), "", "CLOUD_ML_REGION"),
    ],
)
def test_what_is_missing_is_named_before_any_call(provider: Provider, key: str, said: str) -> None:
    """Each names the setting."""
    with pytest.raises(ModelRejected, match=said):
        require_access(provider, key)


async def test_a_cloud_that_is_not_there_is_unavailable() -> None:
    """As with the plain API."""
    with emulated_model({}) as url:
        pass
    async with model_of("vertex", url) as model:
        with pytest.raises(ModelUnavailable):
            await model.complete(REQUEST)
