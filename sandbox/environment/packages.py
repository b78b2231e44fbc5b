"""Names of Debian packages, as strict as an installer that runs as root needs them."""

import re

# What apt takes for an order: `name-` removes, `name+` installs; `g++` is a name.
_PACKAGE = re.compile(
    r"[a-z0-9][a-z0-9+.-]+(:[a-z0-9]+)?(=[A-Za-z0-9.+:~-]+)?(?<!-)(?<![^+]\+)", re.ASCII
)


def is_package(name: str) -> bool:
    """Whether apt reads `name`, with an architecture or a version if any, as one to install.

    Names with a dot are looked up as patterns when there is no such package; apt's settings of
    a set-up forbid that.
    """
    return _PACKAGE.fullmatch(name) is not None
