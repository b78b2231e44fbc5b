"""Which names may be handed to apt, which runs as root."""

import pytest

from sandbox.base import EnvironmentPlan
from sandbox.environment.config import parse_config
from sandbox.environment.declared.script import convert
from sandbox.errors import ConfigInvalid, SandboxError
from sandbox.network.clients import apt_configuration
from sandbox.network.egress import Egress
from sandbox.setup import Setup

NAMES = ["g++", "libstdc++-12-dev", "python3.11", "libc6:amd64", "curl=7.88.1-10+deb12u5", "7zip"]
ORDERS = [
    *["bash-", "bash+", "bash=5.2-", "bash=5+", "bash:amd64-", "lib*", "lib?", "^lib", "~nbash"],
    *["?name(x)", "bash/stable", "./x.deb", "a", "-y", "Bash", "g++-", "x y", "bash\n", "bäsh"],
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_taken(name: str) -> None:
    """With an architecture or a version, and however many `+` the package is called by."""
    assert parse_config(f"env: {{apt: ['{name}']}}".encode()).apt == (name,)
    assert convert(f"sudo apt-get install -y {name}").packages == (name,)


@pytest.mark.parametrize("name", ORDERS)
async def test_an_order_or_a_pattern_is_not(name: str) -> None:
    """What would remove packages, install others, or read a file: at the door and at the end."""
    with pytest.raises(ConfigInvalid, match=r"env\.apt"):
        parse_config(f"env: {{apt: [{name!r}]}}".encode())
    if name.isascii() and not set(name) & set(" \n"):
        assert convert(f"apt install {name}").packages == ()
    plan = EnvironmentPlan("unknown", (), "", "exit_code", "t", packages=(name,))
    setup = Setup(None, None, {}, Egress(port=1))
    with pytest.raises(SandboxError, match="not the name of a Debian package"):
        await setup.install_packages(plan, 1.0)


def test_a_dot_is_no_pattern() -> None:
    """A name that no package has is an error, not a regular expression for others."""
    assert 'APT::Cmd::Pattern-Only "true";' in apt_configuration(1, "/x")
