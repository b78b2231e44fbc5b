"""Cut GitHub's OpenAPI description down to the operations the emulator serves.

Run it to refresh the committed copy from the npm package `@octokit/openapi` (MIT):

    python -m emulator.github.prune_openapi [VERSION]

It needs npm and the network, downloads into a temporary directory and writes
`openapi.json.gz` and `openapi.LICENSE` beside this file. Nothing else reads the network.
"""

import gzip
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from emulator.github.endpoints import OPERATIONS

HERE = Path(__file__).parent
PACKAGE = "@octokit/openapi"
DESCRIPTION = "package/generated/api.github.com.json"
# Prose and examples: most of the bytes, none of the meaning a validator needs.
PROSE = frozenset(
    {"description", "summary", "externalDocs", "example", "examples", "x-github", "tags", "title"}
)

# Where the description is wrong, and what single installations are held to instead: an account
# that is a user *and* an enterprise does not exist.
CORRECTIONS = {
    "GET /app/installations": {
        "type": "array",
        "items": {"$ref": "#/components/schemas/installation"},
    },
}


def prune(description: dict[str, Any], operations: tuple[str, ...]) -> dict[str, Any]:
    """Keep the named operations ("GET /app") and every component they reach.

    Raises KeyError naming the operation that the description does not have.
    """
    paths: dict[str, Any] = {}
    for operation in operations:
        method, path = operation.split(" ")
        item = description["paths"].get(path, {})
        if method.lower() not in item:
            raise KeyError(f"{operation} is not in the description")
        kept = _without_prose(item[method.lower()])
        if operation in CORRECTIONS:
            content = kept["responses"]["200"]["content"]
            content["application/json"]["schema"] = CORRECTIONS[operation]
        paths.setdefault(path, {})[method.lower()] = kept
    components: dict[str, dict[str, Any]] = {}
    pending = sorted(_references(paths))
    while pending:
        kind, name = pending.pop().removeprefix("#/components/").split("/", 1)
        if name in components.setdefault(kind, {}):
            continue
        kept = _without_prose(description["components"][kind][name])
        components[kind][name] = kept
        pending.extend(sorted(_references(kept)))
    return {
        "openapi": description["openapi"],
        "info": {"title": "Part of GitHub's REST API", "version": description["info"]["version"]},
        "paths": paths,
        "components": components,
    }


def _without_prose(node: Any, *, names: bool = False) -> Any:
    """`names` tells that the keys of this mapping are names of properties, not keywords."""
    if isinstance(node, list):
        return [_without_prose(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_prose(value, names=key == "properties" and not names)
        for key, value in node.items()
        if names or not (key in PROSE or key.startswith("x-"))
    }


def _references(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*map(_references, node)) if node else set()
    if not isinstance(node, dict):
        return set()
    found = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return found.union(*map(_references, node.values())) if node else found


def _download(version: str, folder: Path) -> Path:
    name = subprocess.run(
        ["npm", "pack", "--silent", f"{PACKAGE}@{version}"],
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return folder / name.stdout.split()[-1]


def main(version: str = "23.0.2") -> None:
    """Download the package and rewrite the committed copy."""
    with (
        tempfile.TemporaryDirectory() as folder,
        tarfile.open(_download(version, Path(folder))) as package,
    ):
        description = package.extractfile(DESCRIPTION)
        licence = package.extractfile("package/LICENSE")
        assert description is not None
        assert licence is not None
        pruned = prune(json.load(description), OPERATIONS)
        (HERE / "openapi.LICENSE").write_bytes(licence.read())
    text = json.dumps(pruned, separators=(",", ":"), sort_keys=True).encode()
    # No time in the header: the same input gives the same bytes.
    (HERE / "openapi.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    print(f"{len(OPERATIONS)} operations, {len(text)} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:2])
