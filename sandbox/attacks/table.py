"""All attacks in the order of the table."""

from sandbox.attacks.base import Attack
from sandbox.attacks.git import GIT
from sandbox.attacks.kernel import KERNEL
from sandbox.attacks.network import NETWORK
from sandbox.attacks.paths import PATHS
from sandbox.attacks.privileges import PRIVILEGES
from sandbox.attacks.processes import PROCESSES
from sandbox.attacks.resources import RESOURCES
from sandbox.attacks.secrets import SECRETS
from sandbox.attacks.verdicts import VERDICTS

ATTACKS: tuple[Attack, ...] = (
    *PRIVILEGES,
    *KERNEL,
    *NETWORK,
    *RESOURCES,
    *PROCESSES,
    *SECRETS,
    *VERDICTS,
    *GIT,
    *PATHS,
)
