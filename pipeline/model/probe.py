"""A one-token call that tells whether key, host and model name work."""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.model.clients import Provider
from pipeline.model.gateway import AnthropicModel
from pipeline.model.prices import Price
from pipeline.services import CallAddress, ModelRequest
from pipeline.values import Usage


@dataclass(frozen=True, slots=True)
class _Unlimited:
    """A budget for a call that costs less than a hundredth of a cent."""

    async def reserve(
        self,
        address: CallAddress,
        request_hash: str,
        worst_usd: float,
        *,
        tokens: int = 0,
        role: str = "",
    ) -> int:
        return 0

    async def settle(self, handle: int, usage: Usage, stop_reason: str) -> None:
        return

    async def spent(self) -> Usage:
        return Usage()

    async def stages(self) -> dict[str, Usage]:
        return {}


async def check_model(
    api_key: str,
    base_url: str,
    model: str,
    prices: Mapping[str, Price],
    provider: Provider | None = None,
    *,
    deadline_s: float = 20,
) -> None:
    """Make one call of one output token; returns when it worked.

    Raises PriceUnknown, ModelRejected (key, model name) or ModelUnavailable, each with a plain
    sentence. Costs a few input tokens.
    """
    request = ModelRequest(
        CallAddress("environment", "probe", "probe"),
        role="probe",
        system="",
        messages=({"role": "user", "content": "Say ok."},),
        max_tokens=1,
    )
    async with AnthropicModel(
        api_key,
        base_url,
        model,
        "",
        _Unlimited(),
        "probe",
        prices,
        deadline_s=deadline_s,
        provider=provider or Provider(),
    ) as gateway:
        await gateway.complete(request)
