"""githubkit as Prism uses it; the only module that imports it.

Answers are read as JSON, never through githubkit's models: those reject some of GitHub's own
answers, and would do so after a side effect. Reads and PATCH are retried, POST never is.
"""

from collections.abc import Awaitable
from datetime import timedelta
from typing import Any, Final, Protocol

import httpx
from githubkit import AppAuthStrategy, GitHub
from githubkit.auth import BaseAuthStrategy
from githubkit.cache import MemCacheStrategy
from githubkit.core import GitHubCore
from githubkit.exception import (
    GitHubException,
    RateLimitExceeded,
    RequestError,
    RequestFailed,
    RequestTimeout,
)
from githubkit.typing import RetryOption

from app.github.errors import (
    Conflict,
    Forbidden,
    GitHubError,
    GitHubUnavailable,
    NotFound,
    RateLimited,
    Refused,
    Unauthorized,
    Unprocessable,
)
from app.github.tokens import InstallationAuth, TokenKey, TokenProvider

API_VERSION: Final = "2022-11-28"
TIMEOUT_S = 10.0  # an effect begun in time ends before a lease of 60 s does
LONGEST_WAIT_S = 20.0
RETRIES = 3

Kit = GitHub[Any]

_REFUSALS: dict[int, type[Refused]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: NotFound,
    422: Unprocessable,
}


def app_kit(base_url: str, app_id: str, private_key: str) -> Kit:
    """A client that speaks as the App; its calls may be repeated."""
    strategy = AppAuthStrategy(app_id, private_key)
    return GitHub(
        strategy,
        base_url=base_url,
        timeout=TIMEOUT_S,
        http_cache=False,
        cache_strategy=MemCacheStrategy(),
        auto_retry=_retry_any,
    )


def token_kit(base_url: str, tokens: TokenProvider, key: TokenKey) -> Kit:
    """A client with the token of one repository, new when its hour is over."""
    return GitHub(
        _Strategy(tokens, key),
        base_url=base_url,
        timeout=TIMEOUT_S,
        http_cache=False,
        cache_strategy=MemCacheStrategy(),
        auto_retry=_retry_idempotent,
    )


def rest_of(kit: Kit) -> Any:
    """The REST methods of the version that Prism speaks; holds the client weakly."""
    return kit.rest(API_VERSION)


class _Strategy(BaseAuthStrategy):
    """Our token provider as githubkit's authentication."""

    def __init__(self, tokens: TokenProvider, key: TokenKey) -> None:
        self._auth = InstallationAuth(tokens, key)

    def get_auth_flow(self, github: GitHubCore[Any]) -> httpx.Auth:
        return self._auth


class _Answer(Protocol):
    """What is used of githubkit's response."""

    def json(self) -> Any: ...


async def answer(call: Awaitable[_Answer]) -> Any:
    """Wait for an answer and read it; githubkit's errors become ours."""
    try:
        return (await call).json()
    except RateLimitExceeded as error:
        raise RateLimited(error.retry_after.total_seconds()) from error
    except RequestFailed as error:
        raise _refusal(error) from error
    except GitHubException as error:
        cause = error.exc if isinstance(error, RequestError) else error
        if isinstance(cause, GitHubError):  # raised by our own token provider
            raise cause from None
        raise GitHubUnavailable(f"No answer from GitHub: {type(cause).__name__}.") from error


def _refusal(error: RequestFailed) -> GitHubError:
    status = error.response.status_code
    if status >= 500:
        return GitHubUnavailable(f"GitHub answered {status}.")
    return _REFUSALS.get(status, Refused)(status, _message(error.response.raw_response))


def _message(response: httpx.Response) -> str:
    """GitHub's message with the details of its `errors`, at most 300 characters."""
    try:
        data = response.json()
    except ValueError:
        return response.reason_phrase
    if not isinstance(data, dict):
        return response.reason_phrase
    parts = [str(data.get("message", response.reason_phrase))]
    for entry in data.get("errors") or ():
        detail = entry.get("message") or entry.get("code") if isinstance(entry, dict) else entry
        parts.append(str(detail))
    return "; ".join(parts)[:300]


def _retry_idempotent(error: GitHubException, count: int) -> RetryOption:
    """Repeat what can be repeated: refused for now, never sent, or safe to do twice."""
    if count >= RETRIES:
        return RetryOption(do_retry=False)
    if isinstance(error, RateLimitExceeded):
        wait = error.retry_after
        return RetryOption(wait.total_seconds() <= LONGEST_WAIT_S, wait)
    if isinstance(error, RequestError) and isinstance(error.exc, GitHubError):
        return RetryOption(do_retry=False)  # from our token provider, which has retried
    never_sent = isinstance(error, RequestError) and isinstance(error.exc, httpx.ConnectError)
    if never_sent or _is_transient(error, {"GET", "PATCH"}):
        return RetryOption(do_retry=True, retry_after=timedelta(seconds=0.3 * 3**count))
    return RetryOption(do_retry=False)


def _retry_any(error: GitHubException, count: int) -> RetryOption:
    """For the App's own calls: a second token does no harm, so POST may be repeated too."""
    if count < RETRIES and _is_transient(error, {"GET", "POST"}):
        return RetryOption(do_retry=True, retry_after=timedelta(seconds=0.3 * 3**count))
    return _retry_idempotent(error, count)


def _is_transient(error: GitHubException, methods: set[str]) -> bool:
    if isinstance(error, RequestFailed):
        return error.response.status_code >= 500 and error.request.method in methods
    return isinstance(error, RequestTimeout) and error.request.method in methods
