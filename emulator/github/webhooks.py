"""Deliver webhooks the way GitHub does: signed, in the background, ten seconds, never again.

A delivery that fails stays failed until somebody asks for it by the API. Deliveries run in a
few threads of their own, so their order is not guaranteed, as on GitHub.
"""

import hashlib
import hmac
import itertools
import json
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import datetime
from typing import Any

import httpx

from emulator.github.records import Delivery

PARALLEL = 8


class Webhooks:
    """The App's one webhook: where it goes, and every delivery there was, oldest first."""

    def __init__(self, app_id: int, now: Callable[[], datetime]) -> None:
        self.url = ""
        self.secret = ""
        self.timeout_s = 10.0
        self.deliveries: list[Delivery] = []
        self._app_id = app_id
        self._now = now
        self._ids = itertools.count(app_id * 1_000_000)
        self._pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="webhook")
        self._pending: set[Future[None]] = set()
        self._client: httpx.Client | None = None

    def send(
        self,
        event: str,
        payload: dict[str, Any],
        *,
        installation_id: int | None = None,
        repository_id: int | None = None,
    ) -> Delivery | None:
        """Start a delivery and return its record, or None when no address is configured."""
        if not self.url:
            return None
        return self._start(
            Delivery(
                next(self._ids),
                str(uuid.uuid4()),
                event,
                payload.get("action"),
                payload,
                self._now(),
                installation_id,
                repository_id,
            )
        )

    def redeliver(self, delivery: Delivery) -> Delivery:
        """Deliver once more: a new record with the same GUID and the same bytes."""
        return self._start(
            replace(
                delivery,
                id=next(self._ids),
                redelivery=True,
                delivered_at=self._now(),
                status="pending",
                status_code=0,
                response_headers={},
                response_body="",
            )
        )

    def _start(self, delivery: Delivery) -> Delivery:
        self.deliveries.append(delivery)
        # Serialised now: what happens to the issue later does not change what is sent.
        body = json.dumps(delivery.payload, ensure_ascii=False).encode()
        if self._client is None:
            # Not before it is needed: its TLS context costs 40 ms.
            self._client = httpx.Client(trust_env=False, follow_redirects=False)
        future = self._pool.submit(self._post, self._client, delivery, body, self.url)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return delivery

    def _post(self, client: httpx.Client, delivery: Delivery, body: bytes, url: str) -> None:
        delivery.request_headers = self._headers(delivery, body)
        began = time.monotonic()
        try:
            response = client.post(
                url, content=body, headers=delivery.request_headers, timeout=self.timeout_s
            )
        except httpx.TimeoutException:
            delivery.status, delivery.status_code = "timed out", 504
        except httpx.HTTPError:
            delivery.status, delivery.status_code = "failed to connect to host", 502
        else:
            code = response.status_code
            delivery.status = "OK" if code < 400 else f"Invalid HTTP Response: {code}"
            delivery.status_code = code
            delivery.response_headers = dict(response.headers)
            delivery.response_body = response.text[:10_000]
        delivery.duration_s = round(time.monotonic() - began, 2)

    def _headers(self, delivery: Delivery, body: bytes) -> dict[str, str]:
        headers = {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/emulated",
            "X-GitHub-Delivery": delivery.guid,
            "X-GitHub-Event": delivery.event,
            "X-GitHub-Hook-ID": str(self._app_id),
            "X-GitHub-Hook-Installation-Target-ID": str(self._app_id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
        }
        if self.secret:
            headers["X-Hub-Signature"] = "sha1=" + _mac(self.secret, body, "sha1")
            headers["X-Hub-Signature-256"] = "sha256=" + _mac(self.secret, body, "sha256")
        return headers

    def settle(self, timeout_s: float = 30.0) -> None:
        """Wait until every delivery has ended; TimeoutError when one has not."""
        if wait(set(self._pending), timeout_s).not_done:
            raise TimeoutError(f"a delivery was still running after {timeout_s} s")

    def close(self) -> None:
        """Let the running deliveries end and free the threads."""
        self._pool.shutdown(wait=True)
        if self._client is not None:
            self._client.close()


def _mac(secret: str, body: bytes, algorithm: str) -> str:
    return hmac.new(secret.encode(), body, getattr(hashlib, algorithm)).hexdigest()
