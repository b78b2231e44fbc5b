"""The model gateway: every call is budgeted, addressed, streamed and retried here.

The single importer of `anthropic`, at the first call only: the import takes a second.
"""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pipeline.errors import ModelRefused, ModelRejected, ModelUnavailable
from pipeline.model.faults import Faulty, classify
from pipeline.model.prices import Price, price_of
from pipeline.model.wire import body_of, estimated_tokens, request_hash
from pipeline.services import Budget, CallAddress, Json, ModelReply, ModelRequest, Recorder
from pipeline.values import Usage

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic


TRIES = 6
MAX_PAUSE_S = 30.0


@dataclass(slots=True)
class AnthropicModel:
    """`pipeline.services.Model` over the Messages API of Anthropic or a compatible host.

    `model` answers agents, `verdict_model` ("" = the same) single verdicts, which are the calls
    with a forced tool. `prices` overrides the table by model name. `deadline_s` bounds one call
    with all its retries. Raises PriceUnknown when made for a model without a price. Close it
    with `aclose`, or use it as an async context manager.
    """

    api_key: str
    base_url: str
    model: str
    verdict_model: str
    budget: Budget
    run: str
    prices: Mapping[str, Price] = field(default_factory=dict)
    deadline_s: float = 600.0
    backoff_s: float = 0.5
    recorder: Recorder | None = None
    _client: "AsyncAnthropic | None" = field(default=None, init=False, repr=False)
    _unforced: set[str] = field(default_factory=set, init=False, repr=False)

    def __post_init__(self) -> None:
        for name in (self.model, self.verdict_model or self.model):
            price_of(name, self.prices)

    async def __aenter__(self) -> "AnthropicModel":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Make one call; see `pipeline.services.Model`.

        Rate limits, overload, server errors and cut streams are tried again up to six times
        within `deadline_s`; each try is a reservation of its own, settled at its worst case
        when it may have been charged without an answer. A reply cut off at its length limit is
        returned with stop reason `max_tokens`: do not run its tool calls. MalformedAnswer for
        one that cannot be read: it is paid for, and not tried again.
        """
        fault = Faulty("no try was made")
        try:
            async with asyncio.timeout(self.deadline_s):
                for attempt in range(1, TRIES + 1):
                    try:
                        return await self._once(request)
                    except Faulty as error:
                        fault = error
                    if attempt < TRIES:
                        await asyncio.sleep(self._pause(attempt, fault))
        except TimeoutError:
            fault = Faulty(f"no answer within {self.deadline_s:g} s; last: {fault}")
        raise ModelUnavailable(
            f"The model API did not answer {request.address}: {str(fault).rstrip('.')}. What was "
            "finished before is kept; run again when it works.",
            fault.status,
        )

    def _pause(self, attempt: int, fault: Faulty) -> float:
        """Full jitter under a doubling cap, never less than the API asks for (≤ 30 s)."""
        cap = min(MAX_PAUSE_S, self.backoff_s * 2**attempt)
        return max(random.uniform(0, cap), min(MAX_PAUSE_S, fault.retry_after_s))

    async def _once(self, request: ModelRequest) -> ModelReply:
        name = (self.verdict_model if request.force_tool else "") or self.model
        body = body_of(request, name, can_force=name not in self._unforced)
        price, estimate = price_of(name, self.prices), estimated_tokens(body)
        worst = price.worst(estimate, request.max_tokens)
        usage, stop = Usage(1, estimate, 0, request.max_tokens, worst), "lost"
        handle = await self.budget.reserve(request.address, request_hash(body), worst)
        try:
            message = await self._stream(body, request.address)
            usage = _usage(message.get("usage"), price) or usage
            stop = str(message["stop_reason"])
        except Faulty as fault:
            if not fault.charged:
                usage, stop = Usage(), f"http_{fault.status}"
            if fault.forbids_forcing and "tool_choice" in body:
                self._unforced.add(name)
            raise
        except ModelRejected as error:
            usage, stop = Usage(), f"http_{error.status}"
            raise
        finally:
            await self.budget.settle(handle, usage, stop)
        return _reply(message, usage, request.address)

    async def _stream(self, body: dict[str, Json], address: CallAddress) -> dict[str, Json]:
        headers = {
            "x-prism-call": str(address),
            "x-prism-run": self.run,
            "x-prism-attempt": str(address.attempt),
        }
        client = self._connected()
        try:
            async with client.messages.stream(**body, extra_headers=headers) as stream:
                message = await stream.get_final_message()
            answer: dict[str, Json] = message.to_dict(mode="json")
        except Exception as error:  # the SDK lets its HTTP library's errors through
            raise classify(error, body["model"], forced="tool_choice" in body) from error
        if getattr(message, "stop_reason", None) is None:
            raise Faulty("the connection ended in the middle of the answer", charged=True)
        return answer

    def _connected(self) -> "AsyncAnthropic":
        if not self.api_key:
            raise ModelRejected("No model key is set. Set ANTHROPIC_API_KEY and start again.")
        if self._client is None:
            from anthropic import AsyncAnthropic, Timeout  # noqa: PLC0415 - takes a second

            extra = {"x-api-key": self.api_key, "anthropic-version": "2023-06-01"}
            self._client = AsyncAnthropic(
                api_key=self.api_key,
                base_url=self.base_url,
                max_retries=0,
                timeout=Timeout(connect=10.0, read=180.0, write=60.0, pool=60.0),
                default_headers={} if _is_anthropic(self.base_url) else extra,
            )
        return self._client


def _is_anthropic(base_url: str) -> bool:
    """Compatible hosts know the older header only, so they are sent both."""
    host = urlsplit(base_url).hostname or ""
    return host == "anthropic.com" or host.endswith(".anthropic.com")


def _usage(reported: Json, price: Price) -> Usage | None:
    """Usage as reported, None when it is missing or cannot be true."""
    fields = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    counts = [(reported or {}).get(name) for name in (*fields, "output_tokens")]
    fresh, written, read, output = (0 if count is None else count for count in counts)
    if counts[0] is None or counts[3] is None:
        return None
    if any(not isinstance(count, int) or count < 0 for count in (fresh, written, read, output)):
        return None
    cost = price.cost(fresh, written, read, output)
    return Usage(1, fresh + written + read, read, output, cost)


def _reply(message: dict[str, Json], usage: Usage, address: CallAddress) -> ModelReply:
    if message["stop_reason"] == "refusal":
        raise ModelRefused(f"The model declined to answer {address}.")
    content = tuple(
        block
        for block in message.get("content") or ()
        if block.get("type") != "text" or block.get("text")
    )
    return ModelReply(content, message["stop_reason"], usage, message.get("model") or "")
