"""Installation tokens: one request per (installation, repository, purpose), kept in memory.

githubkit's own provider asks once per concurrent caller, keys its cache without the host and
reads dates in one format only; this one does none of that. Tokens never reach disk or Redis.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

import httpx

from app.github.values import Purpose

MARGIN_S = 120.0


@dataclass(frozen=True, slots=True)
class TokenKey:
    """What a token is for. The API's base URL is part of it: two hosts share no token."""

    base_url: str
    installation_id: int
    repository_id: int
    purpose: Purpose


@dataclass(frozen=True, slots=True)
class Token:
    """A token and when it ends, in seconds since the epoch."""

    value: str = field(repr=False)
    expires_at: float


Mint = Callable[[TokenKey], Awaitable[Token]]


class TokenProvider:
    """Hands out tokens that stay valid for at least two minutes; one request per key."""

    def __init__(self, mint: Mint, clock: Callable[[], float] = time.time) -> None:
        self._mint = mint
        self._clock = clock
        self._tokens: dict[TokenKey, Token] = {}
        self._locks: dict[TokenKey, asyncio.Lock] = {}

    async def get(self, key: TokenKey) -> str:
        """The token's text; asks GitHub when none is cached or it ends soon."""
        async with self._locks.setdefault(key, asyncio.Lock()):
            token = self._tokens.get(key)
            if token is None or token.expires_at - self._clock() < MARGIN_S:
                token = await self._mint(key)
                self._tokens[key] = token
            return token.value

    def forget(self, key: TokenKey) -> None:
        """Drop a token that GitHub no longer accepts."""
        self._tokens.pop(key, None)


class InstallationAuth(httpx.Auth):
    """Puts the current token on each request, so that a client outlives a token's hour."""

    def __init__(self, provider: TokenProvider, key: TokenKey) -> None:
        self._provider = provider
        self._key = key

    async def async_auth_flow(
        self, request: httpx.Request
    ) -> AsyncGenerator[httpx.Request, httpx.Response]:
        """Authorise; on 401 ask once for a new token (the request was refused, not done)."""
        request.headers["Authorization"] = f"token {await self._provider.get(self._key)}"
        response = yield request
        if response.status_code == 401:
            self._provider.forget(self._key)
            request.headers["Authorization"] = f"token {await self._provider.get(self._key)}"
            yield request


def token_from(data: dict[str, str]) -> Token:
    """A token from the API's JSON; dates with and without milliseconds are read."""
    return Token(data["token"], datetime.fromisoformat(data["expires_at"]).timestamp())
