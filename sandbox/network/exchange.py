"""One request to a registry, and what the cache has to do with it."""

import asyncio

import h11

from sandbox.network.cache import Cache, Stored, Writing, cache_key, fresh_for_s
from sandbox.network.request import Headers, Wanted
from sandbox.network.upstream import Link, Upstream, UpstreamFailed


async def ask(
    upstream: Upstream, wanted: Wanted, body: bytes, secret: str
) -> tuple[Link, h11.Response]:
    """Send a request; an idle connection that turns out closed is tried once more anew."""
    for fresh in (False, True):
        link = await upstream.link(wanted.origin, fresh=fresh)
        try:
            await link.send(*_events(wanted, body, secret))
            while not isinstance(answer := await link.next(), h11.Response):
                if not isinstance(answer, h11.InformationalResponse):
                    raise UpstreamFailed("The registry ended without an answer.")
        except (UpstreamFailed, OSError) as error:
            link.close()
            if fresh or not link.is_used:
                raise UpstreamFailed(f"{wanted.origin.host}: {error}") from error
        except BaseException:
            link.close()
            raise
        else:
            return link, answer
    raise AssertionError("the second try returns or raises")


def begin_keeping(cache: Cache, wanted: Wanted, answer: h11.Response) -> Writing | None:
    """Start to keep an answer; None when it may not be."""
    headers = list(answer.headers)
    fresh_s = fresh_for_s(wanted, answer.status_code, headers)
    return cache.begin(cache_key(wanted), headers, fresh_s) if fresh_s > 0 else None


async def find_kept(cache: Cache, key: str) -> Stored | None:
    """Look an entry up in a thread, which checks all of it; its file is closed when cancelled."""
    looking = asyncio.get_running_loop().run_in_executor(None, cache.find, key)
    try:
        return await asyncio.shield(looking)
    except asyncio.CancelledError:
        looking.add_done_callback(_close_found)
        raise


def _close_found(looking: asyncio.Future[Stored | None]) -> None:
    if not looking.cancelled() and looking.exception() is None and (found := looking.result()):
        found.file.close()


def _events(wanted: Wanted, body: bytes, secret: str) -> list[h11.Event]:
    headers: Headers = [(b"host", wanted.origin.authority.encode()), *wanted.headers]
    if secret:
        headers = [(key, value) for key, value in headers if key != b"authorization"]
        headers.append((b"authorization", secret.encode()))
    if wanted.is_fetch:
        headers.append((b"content-length", str(len(body)).encode()))
    request = h11.Request(method=wanted.method, target=wanted.target, headers=headers)
    return [request, *([h11.Data(data=body)] if body else []), h11.EndOfMessage()]
