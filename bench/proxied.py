"""The same installation through the set-up's proxy and by the engine's own network."""

import os
from collections.abc import Mapping
from statistics import median

from bench.engine import LABEL
from bench.measure import Row, Work, in_turn, ratio
from sandbox.base import EnvironmentPlan, Limits
from sandbox.engine.client import Engine
from sandbox.engine.containers import Host, setup_args, started
from sandbox.engine.runner import ContainerRunner, container_runner
from sandbox.environment.passthrough import certificate_bundle, installer_environment
from sandbox.network.clients import bundle_environment
from sandbox.network.egress import Outside, egress_for
from sandbox.runner import Script

PACKAGES = "flask pytest requests rich sqlalchemy"
LINE = f"""
set -e
place=$(mktemp -d)
python3 -m venv "$place"
"$place/bin/pip" install -q --no-cache-dir --disable-pip-version-check {PACKAGES}
rm -rf "$place"
"""
_BUNDLE = "/opt/bench-ca.pem"


async def proxied(base: str, rounds: int) -> list[Row]:
    """A fresh virtual environment filled by pip, each way in turn; the proxy keeps nothing."""
    engine = Engine()
    plan = EnvironmentPlan("python", (), "", "exit_code", "bench")
    labels = {LABEL: "", "prism.instance": "bench"}
    args = setup_args(base, Limits(), labels, Host())
    try:
        async with (
            started(engine, {**args, "network_mode": "bridge"}) as direct_name,
            started(engine, {**args, "network_mode": "none"}) as proxied_name,
            egress_for(
                engine, proxied_name, plan, image=base, labels=labels, outside=Outside()
            ) as way,
        ):
            direct = await container_runner(engine, direct_name)
            through = await container_runner(engine, proxied_name)
            await _trust(direct, certificate_bundle(os.environ))
            await _trust(through, way.bundle)
            trusting = bundle_environment(_BUNDLE)
            ours = _install(through, {**way.env, **trusting})
            theirs = _install(direct, {**installer_environment(os.environ), **trusting})
            by_proxy, by_bridge = await in_turn(rounds, ours, theirs)
    finally:
        await engine.close()
    detail = f"{median(by_proxy):.1f} s against {median(by_bridge):.1f} s: pip, {PACKAGES}"
    return [
        Row("proxy_ratio", "installed by proxy / direct", ratio(by_proxy, by_bridge), 1.25, detail)
    ]


def _install(runner: ContainerRunner, env: Mapping[str, str]) -> Work:
    async def work() -> None:
        outcome = await runner.run(Script(LINE, env=env, timeout_s=300, merged=True, project=True))
        if outcome.exit_code != 0:
            raise RuntimeError(f"The installation failed:\n{outcome.text[-2000:]}")

    return work


async def _trust(runner: ContainerRunner, bundle: bytes) -> None:
    await runner.as_root(Script(f"umask 022; cat > {_BUNDLE}", stdin=bundle))
