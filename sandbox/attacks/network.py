"""Ways out of the container, tried against listeners that really wait on this machine."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from secrets import token_hex

from sandbox.attacks.base import Attack, Finding, Scene

_CONNECT = """
import errno, socket
for family, address in TARGETS:
    s = socket.socket(family, KIND)
    s.settimeout(2)
    try:
        s.connect(address)
        if KIND == socket.SOCK_DGRAM:
            s.send(b"x")
        print("CONNECTED", address)
    except socket.timeout:
        print("ETIMEDOUT", address)
    except OSError as error:
        print(errno.errorcode.get(error.errno, type(error).__name__), address)
    s.close()
"""


@asynccontextmanager
async def _listener() -> AsyncIterator[tuple[int, str, list[str]]]:
    """A TCP port on this machine's loopback and an abstract unix socket, and who came."""
    came: list[str] = []

    def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append("connected")
        writer.close()

    name = f"prism-attack-{token_hex(4)}"
    tcp = await asyncio.start_server(note, "127.0.0.1", 0)
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(f"\0{name}")
    abstract = await asyncio.start_unix_server(note, sock=unix)
    try:
        yield tcp.sockets[0].getsockname()[1], name, came
    finally:
        for server in (tcp, abstract):
            server.close()


async def _connects(
    scene: Scene, targets: list[tuple[int, object]], kind: int = socket.SOCK_STREAM
) -> Finding:
    program = f"TARGETS = {[(int(f), a) for f, a in targets]!r}\nKIND = {int(kind)}\n{_CONNECT}"
    rows = (await scene.python(program)).splitlines()
    answers = [row.split()[0] for row in rows if row]
    held = len(answers) == len(targets) and not {"CONNECTED", "ETIMEDOUT"} & set(answers)
    return Finding(held, f"{len(targets)} addresses: {', '.join(sorted(set(answers)))}")


async def _interfaces(scene: Scene) -> Finding:
    seen = await scene.shell("ls /sys/class/net; tail -n +2 /proc/net/route | wc -l")
    return Finding(seen.output.split() == ["lo", "0"], "only lo, no route")


async def _loopback(scene: Scene) -> Finding:
    async with _listener() as (port, name, came):
        tcp = await _connects(scene, [(socket.AF_INET, ("127.0.0.1", port))])
        abstract = await _connects(scene, [(socket.AF_UNIX, f"\0{name}")])
    held = tcp.held and abstract.held and not came
    return Finding(held, f"port: {tcp.observed}; abstract socket: {abstract.observed}")


async def _host(scene: Scene) -> Finding:
    addresses = {"172.17.0.1", "10.0.0.1", "192.168.0.1", "192.0.2.1"}
    try:
        found = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        addresses |= {str(row[4][0]) for row in found if not str(row[4][0]).startswith("127.")}
    except OSError:
        pass  # this machine does not know its own name
    targets = [
        (socket.AF_INET, (address, port)) for address in sorted(addresses) for port in (22, 80)
    ]
    return await _connects(scene, [*targets])


async def _metadata(scene: Scene) -> Finding:
    return await _connects(
        scene,
        [(socket.AF_INET, ("169.254.169.254", 80)), (socket.AF_INET6, ("fd00:ec2::254", 80))],
    )


async def _names(scene: Scene) -> Finding:
    program = (
        "import socket\ntry:\n  print('RESOLVED', socket.getaddrinfo('example.com', 443)[0][4])\n"
        "except OSError as error:\n  print(type(error).__name__)"
    )
    answer = await scene.python(program, timeout_s=30)
    direct = await _connects(
        scene, [(socket.AF_INET, ("192.0.2.53", 53)), (socket.AF_INET, ("8.8.8.8", 53))],
        socket.SOCK_DGRAM,
    )  # fmt: skip
    held = "RESOLVED" not in answer and direct.held
    return Finding(held, f"{answer.split()[0]}; datagrams to {direct.observed}")


async def _six(scene: Scene) -> Finding:
    return await _connects(
        scene,
        [
            (socket.AF_INET6, ("2001:db8::1", 80)),
            (socket.AF_INET6, ("64:ff9b::c000:201", 80)),
            (socket.AF_INET6, ("ff02::1", 80)),
        ],
    )


_CONFIGURE = """
import errno, fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
address = struct.pack("16sH2s4s8s", b"lo", 2, b"", socket.inet_aton("192.0.2.9"), b"")
for request in (0x8916, 0x8914, 0x890B):  # address, flags, route
    try:
        fcntl.ioctl(s, request, address); print("ok")
    except OSError as error:
        print(errno.errorcode[error.errno])
n = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
n.settimeout(2)
link = struct.pack("IHHIIBBHiII", 32, 16, 0x605, 1, 0, 0, 0, 0, 0, 0, 0)
n.send(link)
answer = n.recv(4096)
print(errno.errorcode.get(-struct.unpack_from("i", answer, 16)[0], "ok"))
"""


async def _configure(scene: Scene) -> Finding:
    answers = (await scene.python(_CONFIGURE)).split()
    held = len(answers) == 4 and "ok" not in answers
    return Finding(held, f"address, flags, route, new link: {', '.join(answers)}")


NETWORK = (
    Attack("interfaces", "network", "find an interface or a route", "network none", _interfaces),
    Attack(
        "loopback", "network", "a port and an abstract unix socket on the host's loopback",
        "a network namespace of its own", _loopback,
    ),
    Attack(
        "host-addresses", "network", "the gateway, the host's addresses, private ranges",
        "network none", _host,
    ),
    Attack("metadata", "network", "a cloud's metadata service", "network none", _metadata),
    Attack("names", "network", "resolve names; ask name servers", "network none", _names),
    Attack("ipv6", "network", "IPv6: global, translated, multicast", "network none", _six),
    Attack(
        "configure", "network", "give oneself an address, a route or a link (ioctl and netlink)",
        "no capability", _configure,
    ),
)  # fmt: skip
