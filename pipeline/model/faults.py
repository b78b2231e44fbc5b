"""What an error of the model API means: try again, or say what is wrong. Pure."""

from pipeline.errors import MalformedAnswer, ModelError, ModelRejected, PromptTooLong
from pipeline.services import Json

AGAIN = frozenset({408, 409, 425, 429})
TOO_LONG = ("too long", "context length", "context window", "too large", "maximum context")
FORCING = ("tool_choice", "tool choice", "forced tool", "forcing tool")
MAX_QUOTE = 300


class Faulty(Exception):
    """A try that failed in a way that another may not.

    `charged` tells whether tokens may have been used; `retry_after_s` is what the API asked for;
    `forbids_forcing` that the model does not take a forced tool.
    """

    def __init__(
        self, message: str, *, status: int = 0, charged: bool = False, retry_after_s: float = 0.0
    ) -> None:
        super().__init__(message)
        self.status = status
        self.charged = charged
        self.retry_after_s = retry_after_s
        self.forbids_forcing = False


def classify(error: Exception, model: str, *, forced: bool) -> Faulty | ModelError:
    """The error to raise instead of the SDK's.

    An HTTP status says what happened; 200 means that the stream itself reported an error, so
    tokens were used. Without a status nothing is known and the try counts as charged, except when
    no connection was made at all. What cannot be read or written as text is a MalformedAnswer:
    the same again would end the same. `forced`: the request forced a tool.
    """
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return MalformedAnswer(f"The model's answer cannot be read ({_plain(error)}).")
    response = getattr(error, "response", None)
    status = int(getattr(error, "status_code", 0) or 0)
    if status == 0 or response is None:
        refused = "ConnectError" in {type(error.__cause__).__name__, type(error).__name__}
        return Faulty(_plain(error), charged=not refused)
    if status == 200:
        return Faulty(f"the answer broke off: {_plain(error)}", status=status, charged=True)
    if status in AGAIN or status >= 500:
        wait = _seconds(response.headers.get("retry-after"))
        return Faulty(f"HTTP {status}, {_plain(error)}", status=status, retry_after_s=wait)
    if status == 400 and forced and any(words in _plain(error).lower() for words in FORCING):
        fault = Faulty("the model takes no forced tool", status=status)
        fault.forbids_forcing = True
        return fault
    return _rejected(error, status, model)


def _rejected(error: Exception, status: int, model: str) -> ModelRejected:
    quote = _plain(error)
    if status in {401, 403}:
        return ModelRejected(
            f"The model API refused the key (HTTP {status}: {quote}). Check ANTHROPIC_API_KEY "
            "and ANTHROPIC_BASE_URL.",
            status,
        )
    if status == 402:
        return ModelRejected(f"The model account has no credit left ({quote}).", status)
    if status == 404:
        return ModelRejected(
            f"The model API does not know {model!r} (HTTP 404: {quote}). Check PRISM_MODEL and "
            "ANTHROPIC_BASE_URL.",
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
    try:
        return max(0.0, float(value or 0))
    except ValueError:
        return 0.0
