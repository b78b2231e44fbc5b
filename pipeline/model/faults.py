"""What an error of the model API means: try again, or say what is wrong. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pipeline.errors import (
    KeyRefused,
    MalformedAnswer,
    ModelError,
    ModelRejected,
    PromptTooLong,
)
from pipeline.services import Json

AGAIN = frozenset({408, 409, 425, 429})
TOO_LONG = ("too long", "context length", "context window", "too large", "maximum context")
NO_MONEY = ("credit balance", "usage limit", "spend limit", "insufficient balance", "billing")
REFUSABLE: Mapping[str, tuple[str, ...]] = {
    "tool_choice": ("tool_choice", "tool choice", "forced tool", "forcing tool"),
    "ttl": ("ttl", "cache_control"),
}
"""Parts of a request that not every model takes, with the words that say so. Left out, the call
works all the same."""
NO_CREDENTIALS = frozenset({"DefaultCredentialsError", "RefreshError", "NoCredentialsError"})
KEYS = "ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL"
MAX_QUOTE = 300


class Faulty(Exception):
    """A try that failed in a way that another may not.

    `charged` tells whether tokens may have been used; `retry_after_s` is what the API asked for;
    `forbids` is the part of the request that the model does not take, see REFUSABLE; `is_odd`
    that the answer came but not in the API's form.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        charged: bool = False,
        retry_after_s: float = 0.0,
        forbids: str = "",
        is_odd: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.charged = charged
        self.retry_after_s = retry_after_s
        self.forbids = forbids
        self.is_odd = is_odd

    @property
    def is_cut(self) -> bool:
        """Whether an answer was under way: such a call is tried again once.

        It may have been paid for, and a line that cuts long answers cuts the next one as well.
        """
        return self.charged and self.status == 0


def classify(
    error: Exception, model: str, sent: Mapping[str, bool], keys: str = KEYS
) -> Faulty | ModelError:
    """The error to raise instead of the SDK's.

    An HTTP status says what happened; 200 means that the stream itself reported an error, so
    tokens were used. Without a status nothing is known and the try counts as charged, except when
    no connection was made at all. What cannot be read or written as text is a MalformedAnswer:
    the same again would end the same. `sent` says which REFUSABLE parts the request had, `keys`
    names the settings to look at when the key is refused.
    """
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return MalformedAnswer(f"The model's answer cannot be read ({_plain(error)}).")
    response = getattr(error, "response", None)
    status = int(getattr(error, "status_code", 0) or 0)
    if status == 0 or response is None:
        return _without_status(error, keys)
    if status == 200:
        return Faulty(f"the answer broke off: {_plain(error)}", status=status, charged=True)
    if status in AGAIN or status >= 500:
        wait = _seconds(response.headers.get("retry-after"))
        return Faulty(f"HTTP {status}, {_plain(error)}", status=status, retry_after_s=wait)
    for part, words in REFUSABLE.items():
        if (
            status == 400
            and sent.get(part)
            and any(each in _plain(error).lower() for each in words)
        ):
            return Faulty(f"the model does not take {part}", status=status, forbids=part)
    return _rejected(error, status, model, keys)


def _without_status(error: Exception, keys: str) -> Faulty | KeyRefused:
    names = {type(error).__name__, type(error.__cause__).__name__}
    if names & NO_CREDENTIALS or "could not resolve" in str(error).lower():
        return KeyRefused(f"There are no credentials ({_plain(error)}). Check {keys}.")
    if isinstance(error, AttributeError | TypeError | KeyError):  # the SDK putting it together
        text = f"the answer is not in the API's form ({type(error).__name__})"
        return Faulty(text, charged=True, is_odd=True)
    return Faulty(_plain(error), charged="ConnectError" not in names)


def _rejected(error: Exception, status: int, model: str, keys: str) -> ModelRejected:
    quote = _plain(error)
    has_no_money = any(words in quote.lower() for words in NO_MONEY)
    if status == 402 or (status in {400, 403} and has_no_money):
        return KeyRefused(f"The model account may not spend any more ({quote}).", status)
    if status in {401, 403}:
        return KeyRefused(
            f"The model API refused the key (HTTP {status}: {quote}). Check {keys}.", status
        )
    if status == 404:
        return ModelRejected(
            f"The model API does not know {model!r} (HTTP 404: {quote}). Check PRISM_MODEL, "
            f"then {keys}.",
            status,
        )
    if status == 413 or any(words in quote.lower() for words in TOO_LONG):
        return PromptTooLong(f"The conversation is too long for the model ({quote}).", status)
    return ModelRejected(f"The model API refused the request (HTTP {status}: {quote}).", status)


def _plain(error: Exception) -> str:
    """The API's own sentence where there is one, bounded: it may quote what was sent."""
    body: Json = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    text = inner.get("message") if isinstance(inner, dict) else None
    plain = " ".join(str(text or error or type(error).__name__).split())
    return plain if len(plain) <= MAX_QUOTE else f"{plain[:MAX_QUOTE]}…"


def _seconds(value: str | None) -> float:
    """The header's seconds; it may give a date instead. 0.0 when it says nothing."""
    try:
        return max(0.0, float(value or 0))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(str(value))
    except ValueError:
        return 0.0
    aware = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
