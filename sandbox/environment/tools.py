"""Lines that install package managers where commands find them, without root or corepack.

The first folder on the sandbox's PATH belongs to its user and is kept with the environment.
"""

# /opt/venv in a container: the folder above the first `bin` on PATH.
_PREFIX = '"${PATH%%/bin:*}"'


def install_node_tool(name: str) -> str:
    """The line that makes a package manager from npm callable by its name."""
    return f"npm install --global --no-audit --no-fund --prefix {_PREFIX} {name}"


def install_python_tool(name: str) -> str:
    """The line that makes a tool from PyPI callable, apart from the project's own packages."""
    folder = f'"$HOME/.tools/{name}"'
    return (
        f"python -m venv {folder} && {folder}/bin/pip install -q {name} "
        f'&& ln -sf {folder}/bin/{name} "$VIRTUAL_ENV/bin/{name}"'
    )
