"""Which addresses a set-up may reach, and names resolved once for check and connection.

Repositories name hosts and whoever owns a domain chooses its addresses, so a name on the list
proves nothing about where it leads: to this machine, a cloud's metadata service, a neighbour.
"""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import Path

Address = IPv4Address | IPv6Address
Lookup = Callable[[str], Awaitable[tuple[str, ...]]]

FOUND_S, MISSING_S = 60.0, 5.0
_NAMES = 2048  # remembered at once
# Metadata services of clouds beside the link-local ones.
_METADATA = {ip_address(text) for text in ("fd00:ec2::254", "100.100.100.200", "168.63.129.16")}
_TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))


def address_refusal(text: str, own: frozenset[str], *, private_allowed: bool) -> str:
    """Why an address must not be connected to; "" when it may.

    `own` are this machine's addresses. An IPv4 address inside an IPv6 one is judged as well.
    """
    given = ip_address(text)
    forms = _forms(given)
    if any(str(each) in own for each in (given, *forms)):
        return "it is an address of this machine"
    for address in forms:
        if kind := _forbidden(address):
            return f"it is a {kind} address"
        if not private_allowed and not address.is_global:
            return "it is a private address"
    return ""


def _forbidden(address: Address) -> str:
    """The kind of an address that no list can open; "" for any other."""
    if address.is_loopback:
        return "loopback"
    if address.is_unspecified or str(address).startswith("0."):
        return "unspecified"
    if address.is_link_local or address in _METADATA:
        return "link-local or metadata"
    if address.is_multicast or str(address) == "255.255.255.255":
        return "multicast"
    return ""


def _forms(address: Address) -> list[Address]:
    """The address and what it stands for: mapped, 6to4, Teredo and translated ones."""
    forms: list[Address] = [address]
    if isinstance(address, IPv6Address):
        inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
        if any(address in network for network in _TRANSLATED) or int(address) >> 32 == 0:
            inner.append(IPv4Address(int(address) & 0xFFFFFFFF))
        forms += [each for each in inner if each is not None and int(address) > 1]
        if address.ipv4_mapped:
            forms.pop(0)  # it is that address and nothing else
    return forms


def own_addresses() -> frozenset[str]:
    """Every address of this machine's interfaces, as the kernel lists them."""
    found: set[str] = set()
    try:
        last = ""
        for line in Path("/proc/net/fib_trie").read_text().splitlines():
            words = line.split()
            if words[:2] == ["/32", "host"] and words[2] == "LOCAL":
                found.add(last)
            elif words[:1] in (["|--"], ["+--"]):
                last = words[1].partition("/")[0]
    except OSError:
        pass
    try:
        for line in Path("/proc/net/if_inet6").read_text().splitlines():
            found.add(str(IPv6Address(bytes.fromhex(line.split()[0]))))
    except OSError:
        pass
    return frozenset(found)


async def system_lookup(host: str) -> tuple[str, ...]:
    """Addresses of a name by this machine's resolver, in its order; raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(row[4][0]).partition("%")[0] for row in found))


class Resolver:
    """Looks names up once a minute: clients that connect per request would ask each time.

    `lookup` asks; simultaneous questions for one name are one.
    """

    def __init__(self, lookup: Lookup = system_lookup) -> None:
        self._lookup = lookup
        self._known: dict[str, tuple[float, tuple[str, ...]]] = {}
        self._asking: dict[str, asyncio.Task[tuple[str, ...]]] = {}

    async def addresses(self, host: str) -> tuple[str, ...]:
        """Addresses of a name, the name itself when it is one; empty when there are none."""
        try:
            return (str(ip_address(host)),)
        except ValueError:
            pass
        until, known = self._known.get(host, (0.0, ()))
        if until > time.monotonic():
            return known
        if host not in self._asking:
            self._asking[host] = asyncio.create_task(self._ask(host))
            self._asking[host].add_done_callback(lambda _: self._asking.pop(host, None))
        return await asyncio.shield(self._asking[host])

    async def _ask(self, host: str) -> tuple[str, ...]:
        try:
            found = await self._lookup(host)
        except (OSError, UnicodeError):
            found = ()
        if len(self._known) >= _NAMES:
            self._known.clear()
        keep = FOUND_S if found else MISSING_S
        self._known[host] = (time.monotonic() + keep, found)
        return found
