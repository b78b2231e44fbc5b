"""The way out of a set-up container: its own proxy, reached by a forwarder in its network.

The container has no network. A second one shares its loopback interface and carries bytes from
one port to the proxy's unix socket; the proxy decides what leaves this machine.
"""

import logging
import os
import ssl
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.base import EnvironmentPlan
from sandbox.engine.client import Engine
from sandbox.environment.passthrough import certificate_bundle
from sandbox.network.address import Resolver, own_addresses
from sandbox.network.allow import allow_list, ecosystems, hosts_for
from sandbox.network.authority import Authority
from sandbox.network.cache import Cache
from sandbox.network.clients import proxy_environment
from sandbox.network.proxy import Proxy
from sandbox.network.registries import Registries, operator_registries
from sandbox.network.relay import relay_in
from sandbox.network.sidecar import PORT, forwarding, sidecar_args
from sandbox.network.sockets import require_local_engine, socket_folder
from sandbox.network.upstream import Connect, Streams, Upstream, connect, tls_context

CACHE = "PRISM_SETUP_CACHE"
_LOG = logging.getLogger(__name__)


def _none() -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Egress:
    """What set-up lines need to use the way out, and what it refused so far.

    `env` are variables of every line, `bundle` the one certificate authority they must trust;
    neither is worth anything once the way is closed. `denied` gives refused hosts, sorted;
    `refusals` one sentence each, first ones first, for the log. `port` is the proxy's on the
    container's loopback interface, 0 where there is none because nothing is held back.
    """

    env: Mapping[str, str] = field(default_factory=dict)
    bundle: bytes = b""
    port: int = 0
    denied: Callable[[], tuple[str, ...]] = _none
    refusals: Callable[[], tuple[str, ...]] = _none


@dataclass(frozen=True, slots=True)
class Outside:
    """What a proxy uses of this machine: names, connections, kept files.

    One for all set-ups of a worker; `cache` None keeps nothing. `authorities` (PEM) vouch for
    registries, b"" stands for those of this machine. `clients` is what installers of this
    machine said about their configuration; `relayed` tells which names the operator's own proxy
    resolves.
    """

    resolver: Resolver = field(default_factory=Resolver)
    dial: Connect = connect
    authorities: bytes = b""
    cache: Cache | None = None
    clients: dict[str, str] = field(default_factory=dict)
    relayed: Callable[[str], bool] = field(default=lambda _: False)


def outside(environ: Mapping[str, str]) -> Outside:
    """The usual one: keeps files in PRISM_SETUP_CACHE or the user's cache, obeys HTTPS_PROXY."""
    home = environ.get("HOME", "")
    folder = environ.get("XDG_CACHE_HOME", "") or (f"{home}/.cache" if home else "")
    place = environ.get(CACHE, "") or (f"{folder}/prism/packages" if folder else "")
    cache = Cache(Path(place)) if place else None
    relay = relay_in(environ)
    if relay is None:
        return Outside(cache=cache)

    async def dial(address: str, port: int, tls: ssl.SSLContext | None, host: str) -> Streams:
        if relay.serves(address):
            return await relay.dial(address, port, tls)
        return await connect(address, port, tls, host)

    return Outside(cache=cache, dial=dial, relayed=relay.serves)


@asynccontextmanager
async def egress(
    engine: Engine,
    container: str,
    hosts: Collection[str],
    *,
    image: str,
    labels: Mapping[str, str],
    registries: Registries | None = None,
    outside: Outside | None = None,
    environ: Mapping[str, str] = os.environ,
) -> AsyncIterator[Egress]:
    """Give a running container without network a way to `hosts` (entries of an allow list).

    `image` runs the forwarder and needs python3 or perl; `labels` are those of the container, so
    that both are found as orphans. Leaving cuts every connection at once. Raises EngineUnavailable
    for an engine on another machine, SandboxError when the forwarder cannot reach the proxy.
    """
    require_local_engine(environ)
    own = registries or Registries()
    beyond = outside or Outside()
    upstream = Upstream(
        allowed=allow_list((*hosts, *own.hosts)),
        resolver=beyond.resolver,
        tls=tls_context(beyond.authorities or certificate_bundle(environ)),
        own=own_addresses(),
        dial=beyond.dial,
        relayed=beyond.relayed,
    )
    proxy = Proxy(upstream, Authority(), beyond.cache, own.credentials)
    with socket_folder(environ) as folder:
        async with (
            proxy.listening(folder.path),
            forwarding(engine, sidecar_args(image, container, folder, labels), proxy.arrived),
        ):
            yield Egress(
                env={**own.env, **proxy_environment(PORT)},
                bundle=proxy.authority.bundle,
                port=PORT,
                denied=proxy.refusals.hosts,
                refusals=proxy.refusals.sentences,
            )


@asynccontextmanager
async def egress_for(
    engine: Engine,
    container: str,
    plan: EnvironmentPlan,
    *,
    image: str,
    labels: Mapping[str, str],
    outside: Outside | None = None,
    environ: Mapping[str, str] = os.environ,
) -> AsyncIterator[Egress]:
    """The way out for a plan: its ecosystems' registries, the operator's own, admitted hosts."""
    beyond = outside or Outside()
    own = await operator_registries(ecosystems(plan), environ, beyond.clients)
    for note in own.notes:
        _LOG.warning(note)
    async with egress(
        engine,
        container,
        hosts_for(plan, environ),
        image=image,
        labels=labels,
        registries=own,
        outside=beyond,
        environ=environ,
    ) as way:
        yield way
