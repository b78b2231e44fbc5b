"""The only way out of a real set-up container."""

import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from sandbox.base import EnvironmentPlan, Limits
from sandbox.docker import DockerSandbox
from sandbox.engine.client import Engine
from sandbox.engine.containers import Host, setup_args, started, workspace_args
from sandbox.engine.images import base_image
from sandbox.engine.owner import IN_USE, remove_orphans
from sandbox.engine.runner import ContainerRunner, container_runner
from sandbox.errors import EngineUnavailable, SandboxError, SetupFailed
from sandbox.network.address import Resolver
from sandbox.network.egress import Egress, Outside, egress
from sandbox.network.upstream import connect
from sandbox.runner import Script

pytestmark = pytest.mark.engine

HOST, LABELS = "registry.test", {"prism.instance": f"egress-{os.getpid()}", "prism.run": "egress"}

# What hostile code tries, each with the answer's status or the error's name.
PROBES = r"""
import errno, json, os, socket, ssl, sys, urllib.error, urllib.request
found = {}
def probe(name, work):
    try:
        found[name] = work()
    except urllib.error.HTTPError as error:
        found[name] = error.code
    except OSError as error:
        found[name] = errno.errorcode.get(error.errno) or type(error).__name__ + ": " + str(error)
def dial(host, port, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind) as s:
        s.settimeout(5)
        s.connect((host, port))
        return "connected"
def get(url, method="GET", body=None):
    request = urllib.request.Request(url, data=body, method=method)
    return urllib.request.urlopen(request, timeout=10).status
for host in ("203.0.113.7", "172.17.0.1", "169.254.169.254", "8.8.8.8", "2001:db8::1"):
    probe("direct " + host, lambda: dial(host, 443))
probe("datagram", lambda: dial("8.8.8.8", 53, socket.SOCK_DGRAM))
probe("name", lambda: socket.getaddrinfo("registry.test", 443) and "resolved")
probe("listed", lambda: get("https://registry.test/a"))
probe("plain", lambda: get("http://registry.test/a"))
probe("head", lambda: get("https://registry.test/a", "HEAD"))
probe("post", lambda: get("https://registry.test/a", "POST", b"data"))
probe("put", lambda: get("https://registry.test/a", "PUT", b"data"))
probe("unlisted", lambda: get("https://evil.test/a"))
probe("unlisted plain", lambda: get("http://evil.test/a"))
probe("metadata", lambda: get("http://169.254.169.254/latest/meta-data/"))
probe("loopback", lambda: get("http://127.0.0.2:22/"))
probe("loopback by name", lambda: get("https://inside.test/a"))
probe("port", lambda: get("https://registry.test:8443/a"))
probe("namespace", lambda: os.listdir("/run/prism") and "seen")
json.dump(found, sys.stdout)
"""

NO_WAY = {"ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"}


@dataclass
class Place:
    """A set-up container with its way out."""

    engine: Engine
    name: str
    image: str
    runner: ContainerRunner
    way: Egress

    async def python(self, text: str) -> Any:
        """Run a script as repository code with the variables set-up lines get."""
        bundle = "/tmp/ca.pem"
        env = {**self.way.env, "SSL_CERT_FILE": bundle, "NO_PROXY": "", "no_proxy": ""}
        write = Script(f"cat > {bundle}", stdin=self.way.bundle)
        assert (await self.runner.as_root(write)).exit_code == 0
        outcome = await self.runner.run(
            Script("python3 -", stdin=text.encode(), env=env, project=True)
        )
        assert outcome.exit_code == 0, outcome.stderr
        return json.loads(outcome.stdout)


@pytest.fixture
async def place(registry, answer) -> AsyncIterator[Place]:
    """A container whose way out leads to the test's own registry."""
    registry.answers["/a"] = answer()

    async def lookup(host: str) -> tuple[str, ...]:
        return ("127.0.0.1",) if host == "inside.test" else ("203.0.113.7",)

    async def dial(address: str, port: int, tls: Any, host: str) -> Any:
        here = registry.secure_port if tls else registry.plain_port
        return await connect("127.0.0.1", here, tls, host)

    engine = Engine()
    image = await engine.call(base_image)
    args = setup_args(image, Limits(), LABELS, Host())
    try:
        async with (
            started(engine, args) as name,
            egress(
                engine,
                name,
                (HOST, "inside.test"),
                image=image,
                labels=LABELS,
                outside=Outside(Resolver(lookup), dial, registry.authority.bundle),
            ) as way,
        ):
            yield Place(engine, name, image, await container_runner(engine, name), way)
    finally:
        await engine.close()


async def test_way_out(place: Place, registry) -> None:
    """Nothing leads out but GET and HEAD to a listed host; the rest is refused and reported.

    The forwarder is found as an orphan; when it is gone, nothing leads out at all.
    """
    found = await place.python(PROBES)
    direct = {found.pop(key) for key in list(found) if key.startswith("direct")}
    assert direct | {found.pop("datagram")} <= NO_WAY
    assert found.pop("name").startswith("gaierror")
    assert found.pop("loopback by name").endswith(
        "403 inside.test: 127.0.0.1: it is an address of this machine>"
    )
    refused = {key: found.pop(key) for key in ("unlisted", "port")}
    assert all("403" in text for text in refused.values())
    assert found == {
        "listed": 200,
        "plain": 200,
        "head": 200,
        "post": 405,
        "put": 405,
        "unlisted plain": 403,
        "metadata": 403,
        "loopback": 403,
        "namespace": "ENOENT",
    }
    assert {method for method, *_ in registry.requests} == {"GET", "HEAD"}
    assert place.way.denied() == (
        "127.0.0.2:22",
        "169.254.169.254",
        "evil.test",
        "inside.test",
        "registry.test:8443",
    )
    (sidecar,) = await _containers(place.engine, "egress")
    shown = await place.engine.call(lambda c: c.api.inspect_container(sidecar))
    assert shown["HostConfig"]["ReadonlyRootfs"]
    assert shown["HostConfig"]["CapDrop"] == ["ALL"]
    assert shown["Config"]["User"] == "10003:10003"
    assert [mount["RW"] for mount in shown["Mounts"]] == [False]
    IN_USE.remove(shown["Name"].removeprefix("/"))  # as if its owner had died
    assert await place.engine.call(lambda c: remove_orphans(c, LABELS["prism.instance"])) == 1
    gone = "import json\ntry:\n  import socket; socket.create_connection(('127.0.0.1', 3128), 5)\n"
    gone += "except OSError as error: print(json.dumps(error.errno))\n"
    assert await place.python(gone) == 111


async def _containers(engine: Engine, role: str) -> list[str]:
    labels = [f"{key}={value}" for key, value in {**LABELS, "prism.role": role}.items()]
    found = await engine.call(lambda c: c.api.containers(all=True, filters={"label": labels}))
    return [container["Id"] for container in found]


async def test_socket_out_of_reach(request: pytest.FixtureRequest) -> None:
    """An engine that sees another folder than this process is said to, with what to set."""
    engine = Engine()
    volume = f"prism-test-{os.getpid()}"
    folder = tempfile.mkdtemp()  # pytest's own is too long for a socket's path
    request.addfinalizer(lambda: shutil.rmtree(folder))
    environ = {"PRISM_SOCKET_DIR": folder, "PRISM_SOCKET_VOLUME": volume}
    try:
        image = await engine.call(base_image)
        async with started(engine, setup_args(image, Limits(), LABELS, Host())) as name:
            with pytest.raises(SandboxError, match="PRISM_SOCKET_VOLUME"):
                async with egress(engine, name, (), image=image, labels=LABELS, environ=environ):
                    pass
        await engine.call(lambda c: c.api.remove_volume(volume, force=True))
    finally:
        await engine.close()


async def test_engine_elsewhere() -> None:
    """An engine on another machine cannot be given a way out from here."""
    engine = Engine()
    for address in ("tcp://192.0.2.1:2376", "ssh://host.test"):
        with pytest.raises(EngineUnavailable, match="must be on this machine"):
            async with egress(
                engine, "none", (), image="", labels={}, environ={"DOCKER_HOST": address}
            ):
                pass
    await engine.close()


SECRET = "s3cr3t-word"
PRIVATE = {
    "HOME": "/nonexistent",
    "PIP_INDEX_URL": f"https://me:{SECRET}@index.test/simple",
    "CARGO_REGISTRIES_OWN_INDEX": "sparse+https://crates.test/",
    "CARGO_REGISTRIES_OWN_TOKEN": SECRET,
}


async def test_nothing_of_the_way_is_kept(shop) -> None:
    """Lines have certificates, proxy and index without its password; the image has none of it."""
    lines = (
        'test "$PIP_INDEX_URL" = https://index.test/simple',
        f'! env | grep {SECRET.replace("-", "[-]")} && test -n "$CARGO_REGISTRIES_OWN_TOKEN"',
        'test -s "${JAVA_TOOL_OPTIONS##*trustStore=}" || test -s "$SSL_CERT_FILE.p12"',
        'test "$MADE" = "by the plan"',
        'sed -n 3p "$PIP_CERT" | rev; echo "$HTTPS_PROXY" | rev',
        'test "$(basename "$PWD")" = shop && touch made-here',
    )
    plan = EnvironmentPlan(
        "unknown", lines, "", "exit_code", "t",
        directory="src/shop", variables=(("MADE", "by the plan"),),
    )  # fmt: skip
    sandbox = DockerSandbox(instance=LABELS["prism.instance"], environ=PRIVATE)
    engine = Engine()
    try:
        environment = await sandbox.prepare(shop, plan, "run-kept")
        reversed_lines = [line for line in environment.log.splitlines() if not line.startswith("$")]
        certificate, proxy = (line[::-1] for line in reversed_lines[-2:])
        assert proxy == "http://127.0.0.1:3128"
        words = (certificate, proxy, SECRET)
        shown = await engine.call(
            lambda c: json.dumps(
                [c.api.inspect_image(environment.reference), c.api.history(environment.reference)]
            )
        )
        assert not [word for word in (*words, "3128", "ca.pem") if word in shown]
        args = workspace_args(environment.reference, Limits(), LABELS, Host())
        async with started(engine, {**args, "user": "0:0"}) as name:
            runner = await container_runner(engine, name)
            scan = await runner.as_root(
                Script(
                    "grep -rlF -f /dev/stdin --exclude-dir=proc --exclude-dir=sys / 2>/dev/null; "
                    "ls /opt/prism; ls /workspace/src/shop",
                    stdin="\n".join(words).encode(),
                )
            )
            left = scan.text.split()
            assert "made-here" in left
            assert not [path for path in left if path.startswith("/") or "ca.pem" in path]
    finally:
        await sandbox.remove_environments(shop.repository)
        await sandbox.close()
        await engine.close()


async def test_denied_host_fails_the_set_up(docker: DockerSandbox, shop) -> None:
    """The error names the line, its exit code, the host, and the log says why at its end."""
    line = (
        "exec 3<>/dev/tcp/127.0.0.1/3128; "
        "printf 'CONNECT evil.test:443 HTTP/1.1\\r\\nHost: evil.test:443\\r\\n\\r\\n' >&3; "
        "head -1 <&3; exit 3"
    )
    plan = EnvironmentPlan("unknown", (line,), "", "exit_code", "t", hosts=("evil.test",))
    with pytest.raises(SetupFailed, match=r"evil\.test") as caught:
        await docker.prepare(shop, plan, "run-denied")
    assert (caught.value.exit_code, caught.value.denied) == (3, ("evil.test",))
    assert caught.value.log.endswith("refused: evil.test: this set-up may not reach it\n")


async def test_hanging_set_up(shop) -> None:
    """A line that does not end is ended, said to be so, and nothing of it stays."""
    sandbox = DockerSandbox(instance=LABELS["prism.instance"], limits=Limits(setup_timeout_s=2))
    plan = EnvironmentPlan("unknown", ("echo begun; sleep 600",), "", "exit_code", "t")
    try:
        with pytest.raises(SetupFailed, match="did not end in time") as caught:
            await sandbox.prepare(shop, plan, "run-hanging")
        assert caught.value.exit_code is None
        assert "begun" in caught.value.log
    finally:
        await sandbox.close()


@pytest.mark.nightly
async def test_packages(docker: DockerSandbox, shop) -> None:
    """Debian packages are installed as root, through the way out, before the lines."""
    plan = EnvironmentPlan("unknown", ("less --version",), "", "exit_code", "t", packages=("less",))
    environment = await docker.prepare(shop, plan, "run-packages")
    assert "$ apt-get install less" in environment.log
    bad = EnvironmentPlan("unknown", (), "", "exit_code", "t", packages=("-oDebug=1",))
    with pytest.raises(SandboxError, match="not the name of a Debian package"):
        await docker.prepare(shop, bad, "run-packages")
