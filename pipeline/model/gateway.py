"""The model gateway: every call is budgeted, addressed, streamed and retried here.

circuit ─▶ pace ─▶ reserve ─▶ stream ─▶ settle ─▶ record; again after a fault that may pass
"""

import asyncio
import logging
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pipeline.errors import MalformedAnswer, ModelRefused, ModelRejected, ModelUnavailable
from pipeline.journal import add_usage
from pipeline.model.circuit import Circuits
from pipeline.model.clients import Client, Provider, open_client
from pipeline.model.faults import Faulty, classify
from pipeline.model.pace import LocalPace, Pace
from pipeline.model.prices import Price, price_of
from pipeline.model.roles import VERDICT, RoleModels
from pipeline.model.shape import STOP_REASONS, oddity, read_usage
from pipeline.model.warming import Warming
from pipeline.model.wire import body_of, estimated_tokens, lives_an_hour, request_hash
from pipeline.records import call_data
from pipeline.services import Budget, CallAddress, Json, ModelReply, ModelRequest, Recorder
from pipeline.values import Usage

TRIES = 6
MAX_PAUSE_S = 30.0
MAX_CONTINUED = 3
MAX_ODD = 3

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Traffic:
    """What all runs of a worker share: how fast calls may start, and whether they may at all."""

    pace: Pace = field(default_factory=LocalPace)
    circuits: Circuits = field(default_factory=Circuits)


@dataclass(slots=True)
class AnthropicModel:
    """`pipeline.services.Model` over the Messages API, see `pipeline.model.clients.Provider`.

    `model` answers agents, `verdict_model` ("" = the same) single verdicts, which are the calls
    with a forced tool; `by_role` goes before both, see `RoleModels`. `fallback` ("" = none)
    stands in for a model that does not answer. `prices` overrides the table by model name.
    `deadline_s` bounds one call with all its retries. Raises PriceUnknown when made for a model
    without a price. Close it with `aclose`, or use it as an async context manager.
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
    by_role: Mapping[str, str] = field(default_factory=dict)
    fallback: str = ""
    provider: Provider = field(default_factory=Provider)
    traffic: Traffic = field(default_factory=Traffic)
    _warming: Warming = field(default_factory=Warming, init=False, repr=False)
    _client: Client | None = field(default=None, init=False, repr=False)
    _without: set[tuple[str, str]] = field(default_factory=set, init=False, repr=False)
    _odd: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        names = (*self._models().models(), *((self.fallback,) if self.fallback else ()))
        for name in names:
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

        Rate limits, overload and server errors are tried up to six times within `deadline_s`, cut
        streams twice; each try is a reservation of its own, settled at its worst
        case when it may have been charged without an answer. ModelUnavailable after that opens
        the model's circuit, KeyRefused the account's. A reply cut off at its length limit is
        returned with stop reason `max_tokens`: do not run its tool calls. MalformedAnswer for one
        that cannot be read or ended for an unknown reason: paid for, and not tried again.
        """
        name = self._models().of(request.role, verdict=bool(request.force_tool))
        try:
            return await self._through(request, name)
        except ModelUnavailable as error:
            if not self.fallback or self.fallback == name:
                raise
            _LOG.warning("%s stands in for %s. %s", self.fallback, name, error)
            return await self._through(request, self.fallback)

    def _models(self) -> RoleModels:
        verdict = {VERDICT: self.verdict_model} if self.verdict_model else {}
        return RoleModels(self.model, {**verdict, **self.by_role})

    async def _through(self, request: ModelRequest, name: str) -> ModelReply:
        """The call and, where the model pauses its turn, up to three continuations."""
        async with self.traffic.circuits.passing(name):
            reply = await self._tried(request, name)
            content, usage = reply.content, reply.usage
            for number in range(1, MAX_CONTINUED + 1):
                if reply.stop_reason != "pause_turn":
                    break
                reply = await self._tried(_continued(request, content, number), name)
                content = (*content, *reply.content)
                usage = add_usage(usage, reply.usage)
        if reply.stop_reason == "pause_turn":
            raise MalformedAnswer(f"The model paused {request.address} again and again.")
        return replace(reply, content=content, usage=usage)

    async def _tried(self, request: ModelRequest, name: str) -> ModelReply:
        fault, end = Faulty("no try was made"), time.monotonic() + self.deadline_s
        failed = cut = 0
        try:
            async with asyncio.timeout(self.deadline_s):
                while True:
                    await asyncio.sleep(await self.traffic.pace.turn())
                    try:
                        return await self._once(request, name)
                    except Faulty as error:
                        fault = error
                    if fault.forbids:
                        continue  # once: the next try leaves it out
                    failed, cut = failed + 1, cut + fault.is_cut
                    if failed == TRIES or cut > 1:
                        break
                    if time.monotonic() + fault.retry_after_s > end:
                        raise TimeoutError  # the wait alone is longer than there is time
                    await self._pause(failed, fault)
        except TimeoutError:
            fault = Faulty(
                f"no answer within {self.deadline_s:g} s; last: {fault}",
                status=fault.status,
                retry_after_s=fault.retry_after_s,
            )
        raise ModelUnavailable(
            f"The model API did not answer {request.address}: {str(fault).rstrip('.')}. What was "
            "finished before is kept; run again when it works.",
            fault.status,
            fault.retry_after_s,
        )

    async def _pause(self, failed: int, fault: Faulty) -> None:
        """Full jitter under a doubling cap; what the API asks for holds for everybody."""
        if fault.retry_after_s:
            await self.traffic.pace.hold(fault.retry_after_s)
        await asyncio.sleep(random.uniform(0, min(MAX_PAUSE_S, self.backoff_s * 2**failed)))

    async def _once(self, request: ModelRequest, name: str) -> ModelReply:
        body = body_of(
            request,
            name,
            can_force=(name, "tool_choice") not in self._without,
            hour=(name, "ttl") not in self._without,
        )
        price, estimate = price_of(name, self.prices), estimated_tokens(body)
        worst_usd = price.worst(estimate, request.max_tokens, hour=lives_an_hour(body))
        worst = Usage(1, estimate, 0, request.max_tokens, worst_usd)
        usage, stop, digest = worst, "lost", request_hash(body)
        reply: ModelReply | None = None
        handle = await self.budget.reserve(
            request.address,
            digest,
            worst_usd,
            tokens=estimate + request.max_tokens,
            role=request.role,
        )
        try:
            message = await self._stream(body, request.address)
            usage, odd = _charged(message, body, price, worst)
            stop, reply = str(message["stop_reason"]), _reply(message, usage)
        except Faulty as fault:
            if not fault.charged:
                usage, stop = Usage(), f"http_{fault.status}"
            if fault.forbids:
                self._without.add((name, fault.forbids))
            if fault.is_odd:
                self._note_oddity(str(fault))
            raise
        except ModelRejected as error:
            usage, stop = Usage(), f"http_{error.status}"
            raise
        else:
            self._note_oddity(odd)
            return _usable(reply, request.address)
        finally:
            await self.budget.settle(handle, usage, stop)
            await self._record(request, name, digest, usage, stop, reply)

    def _note_oddity(self, odd: str) -> None:
        """Say what is odd about an answer; raises ModelRejected at the third in a row."""
        self._odd = self._odd + 1 if odd else 0
        if not odd:
            return
        _LOG.error("A model's answer is odd: %s. It is charged at its worst case.", odd)
        if self._odd >= MAX_ODD:
            raise ModelRejected(
                f"{MAX_ODD} answers in a row were not what the model API promises: {odd}. Their "
                f"cost cannot be known. Check PRISM_MODEL and {self.provider.keys}."
            )

    async def _record(
        self,
        request: ModelRequest,
        name: str,
        digest: str,
        usage: Usage,
        stop: str,
        reply: ModelReply | None,
    ) -> None:
        if self.recorder is not None:
            at = request.address
            data = call_data(request, name, digest, usage, stop, reply)
            await self.recorder.record("call", str(at), at.attempt, data)

    async def _stream(self, body: dict[str, Json], address: CallAddress) -> dict[str, Json]:
        headers = {
            "x-prism-call": str(address),
            "x-prism-run": self.run,
            "x-prism-attempt": str(address.attempt),
        }
        if self._client is None:
            self._client = open_client(self.provider, self.api_key, self.base_url)
        try:
            async with (
                self._warming.after_first(body) as begun,
                self._client.messages.stream(**body, extra_headers=headers) as stream,
            ):
                begun()
                message = await stream.get_final_message()
            answer: dict[str, Json] = message.to_dict(mode="json", warnings=False)
        except Exception as error:  # the SDK lets its HTTP library's errors through
            sent = {"tool_choice": "tool_choice" in body, "ttl": lives_an_hour(body)}
            raise classify(error, body["model"], sent, self.provider.keys) from error
        if getattr(message, "stop_reason", None) is None:
            raise Faulty("the connection ended in the middle of the answer", charged=True)
        return answer


def _continued(request: ModelRequest, content: tuple[Json, ...], number: int) -> ModelRequest:
    """The same request with what the model said so far, at the address `<turn>.more1` and on."""
    at = replace(request.address, turn=f"{request.address.turn}.more{number}")
    said = {"role": "assistant", "content": list(content)}
    return replace(request, address=at, messages=(*request.messages, said))


def _charged(
    message: dict[str, Json], body: dict[str, Json], price: Price, worst: Usage
) -> tuple[Usage, str]:
    """What an answer is charged, and what is odd about it: then it is its reservation."""
    usage = read_usage(message.get("usage"), price, hour=lives_an_hour(body))
    odd = oddity(message, body["model"], usage, worst)
    return (worst, odd) if usage is None or odd else (usage, "")


def _reply(message: dict[str, Json], usage: Usage) -> ModelReply:
    content = tuple(
        block
        for block in message.get("content") or ()
        if block.get("type") != "text" or block.get("text")
    )
    return ModelReply(content, str(message["stop_reason"]), usage, message.get("model") or "")


def _usable(reply: ModelReply, address: CallAddress) -> ModelReply:
    """The reply, unless its stop reason says that it must not be used."""
    if reply.stop_reason == "refusal":
        raise ModelRefused(f"The model declined to answer {address}.")
    if reply.stop_reason not in STOP_REASONS:
        _LOG.error("The model ended %s for an unknown reason: %r", address, reply.stop_reason[:40])
        raise MalformedAnswer(
            f"The model ended {address} for a reason Prism does not know: "
            f"{reply.stop_reason[:40]!r}."
        )
    return reply
