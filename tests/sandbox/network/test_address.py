"""Addresses that are refused, and names looked up once."""

import asyncio
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.network.address import Resolver, address_refusal, own_addresses

NEVER = ("127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "0.0.0.0/8")


@given(st.one_of(*(st.ip_addresses(network=network) for network in NEVER)))
def test_never_whatever_the_spelling(address: IPv4Address) -> None:
    """Loopback, link-local, multicast and unspecified addresses, plain or inside IPv6 ones."""
    number = int(address)
    spellings = [
        address,
        IPv6Address(f"::ffff:{address}"),
        IPv6Address(int(IPv6Address("64:ff9b::")) + number),
        IPv6Address((0x2002 << 112) + (number << 80)),
        IPv6Address((0x20010000 << 96) + (number ^ 0xFFFFFFFF)),
    ]
    for each in spellings:
        assert address_refusal(str(each), frozenset(), private_allowed=True)


@given(st.ip_addresses())
def test_public_mode_is_global(address: IPv4Address | IPv6Address) -> None:
    """Without leave for private addresses only global ones pass, and never more than with it."""
    strict = address_refusal(str(address), frozenset(), private_allowed=False)
    loose = address_refusal(str(address), frozenset(), private_allowed=True)
    assert strict or address.is_global
    assert strict or not loose
    assert address_refusal(str(address), frozenset({str(address)}), private_allowed=True)


@pytest.mark.parametrize("text", ["10.0.0.1", "192.168.1.1", "203.0.113.80", "fd12::1"])
def test_private_addresses_of_listed_hosts(text: str) -> None:
    """They pass for a host that somebody wrote down."""
    assert address_refusal(text, frozenset(), private_allowed=True) == ""
    assert "private" in address_refusal(text, frozenset(), private_allowed=False)


def test_this_machine_is_known() -> None:
    """Its own addresses are found, loopback among them."""
    found = own_addresses()
    assert "127.0.0.1" in found
    assert all(ip_address(text) for text in found)


async def test_one_question_per_name() -> None:
    """Simultaneous and later questions for a name are one; failures are asked again sooner."""
    asked: list[str] = []

    async def lookup(host: str) -> tuple[str, ...]:
        asked.append(host)
        await asyncio.sleep(0.01)
        if host == "none.test":
            raise OSError("no such name")
        return ("203.0.113.7",)

    resolver = Resolver(lookup)
    found = await asyncio.gather(*(resolver.addresses("a.test") for _ in range(50)))
    assert set(found) == {("203.0.113.7",)}
    assert await resolver.addresses("a.test") == ("203.0.113.7",)
    assert await resolver.addresses("none.test") == ()
    assert asked == ["a.test", "none.test"]
    assert await resolver.addresses("203.0.113.9") == ("203.0.113.9",)
