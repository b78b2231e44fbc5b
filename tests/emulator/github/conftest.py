"""A running emulated GitHub with one organisation, and callers of every kind."""

import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from emulator.github import GitHub
from emulator.github.keys import AppKey
from emulator.github.records import Installation, Repository
from emulator.github.running import running
from emulator.serving import serving

FILES = {
    "README.md": "# Demo\n",
    "src/calc.py": "def add(a, b):\n    return a - b\n",
    "src/old.py": "gone = 1\n",
    "bin/run*": "#!/bin/sh\n",
    "link@": "src/calc.py",
}
Ask = Callable[..., Awaitable[httpx.Response]]


@pytest.fixture(scope="session")
def private_key(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One RSA key for all tests: making one costs 0.1 s."""
    return AppKey.create(tmp_path_factory.mktemp("key") / "key.pem").pem


@pytest.fixture
def hub(tmp_path: Path, private_key: str) -> Iterator[GitHub]:
    """A GitHub that is not served yet: nobody but the maintainer, no repository."""
    (tmp_path / "private-key.pem").write_text(private_key)
    made = GitHub(tmp_path)
    yield made
    made.close()


@pytest.fixture
def repo(hub: GitHub) -> Repository:
    """The private repository acme/demo with a few files on `main`."""
    made = hub.add_repository("demo", private=True)
    hub.seed(made, FILES)
    return made


@pytest.fixture
def installation(hub: GitHub, repo: Repository) -> Installation:
    """The App on all repositories."""
    return hub.install()


@pytest.fixture
async def github(hub: GitHub, installation: Installation) -> AsyncIterator[GitHub]:
    """The same GitHub, served; whatever a test did, nothing broke GitHub's description."""
    async with running(hub):
        yield hub
    assert hub.violations == []


@pytest.fixture
async def ask(github: GitHub) -> AsyncIterator[Ask]:
    """`await ask("GET /app", token, json=…)`: one REST call below `/api/v3`."""
    async with httpx.AsyncClient(base_url=f"{github.url}/api/v3", verify=False) as client:

        async def call(operation: str, token: str | None = None, **more: Any) -> httpx.Response:
            method, path = operation.split(" ", 1)
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            return await client.request(method, path, headers=headers, **more)

        yield call


@pytest.fixture
def app_jwt(hub: GitHub) -> str:
    """A JWT of the App, good for nine minutes."""
    now = int(time.time())
    claims = {"iat": now - 60, "exp": now + 500, "iss": str(hub.app_id)}
    return jwt.encode(claims, hub.key.pem, algorithm="RS256")


@pytest.fixture
def token(hub: GitHub, installation: Installation) -> str:
    """An installation token with everything the installation has."""
    return hub.installation_token(installation)


@pytest.fixture
def reader(hub: GitHub, repo: Repository) -> str:
    """The token of a person who may only read."""
    return hub.token_for(hub.add_user("reader", "read"))


@pytest.fixture
def writer(hub: GitHub, repo: Repository) -> str:
    """The token of a person who may write."""
    return hub.token_for(hub.add_user("writer", "write"))


class Receiver:
    """Takes deliveries and answers with `status`."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 202
        self.seen: list[tuple[dict[str, str], bytes]] = []

    async def take(self, request: Request) -> Response:
        self.seen.append((dict(request.headers), await request.body()))
        return Response("taken", self.status)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A running target for webhooks."""
    target = Receiver()
    app = Starlette(routes=[Route("/hook", target.take, methods=["POST"])])
    with serving(app) as url:
        target.url = f"{url}/hook"
        yield target


@pytest.fixture
def slow() -> Iterator[str]:
    """The address of a target that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/hook"
