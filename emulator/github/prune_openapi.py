"""Cut GitHub's OpenAPI descriptions down to what the emulator serves and sends.

Run it to refresh the committed copy from the npm packages `@octokit/openapi` and
`@octokit/openapi-webhooks` (both MIT):

    python -m emulator.github.prune_openapi

It needs npm and the network, downloads into a temporary directory and writes
`openapi.json.gz` and `openapi.LICENSE` beside this file. Nothing else reads the network.
"""

import gzip
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from emulator.github.endpoints import OPERATIONS
from emulator.github.events import WEBHOOK_NAMES

HERE = Path(__file__).parent
REST = "@octokit/openapi@23.0.2"
WEBHOOKS = "@octokit/openapi-webhooks@12.1.0"
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
    return {
        "openapi": description["openapi"],
        "info": {"title": "Part of GitHub's REST API", "version": description["info"]["version"]},
        "paths": paths,
        "components": _reached(paths, description),
    }


def prune_webhooks(description: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Keep the payload schemas of the named webhooks ("issues-opened") and what they reach."""
    bodies = {
        name: _without_prose(
            description["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]
        )["schema"]
        for name in names
    }
    return {"payloads": bodies, "components": _reached(bodies, description)}


def _reached(kept: Any, description: dict[str, Any]) -> dict[str, dict[str, Any]]:
    components: dict[str, dict[str, Any]] = {}
    pending = sorted(_references(kept))
    while pending:
        kind, name = pending.pop().removeprefix("#/components/").split("/", 1)
        if name in components.setdefault(kind, {}):
            continue
        components[kind][name] = _without_prose(description["components"][kind][name])
        pending.extend(sorted(_references(components[kind][name])))
    return components


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


def _download(package: str) -> tuple[dict[str, Any], bytes]:
    """The description and the licence in a package."""
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(
            ["npm", "pack", "--silent", package],
            cwd=folder,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        with tarfile.open(Path(folder, packed.stdout.split()[-1])) as archive:
            description = archive.extractfile(DESCRIPTION)
            licence = archive.extractfile("package/LICENSE")
            assert description is not None
            assert licence is not None
            return json.load(description), licence.read()


def main() -> None:
    """Download the packages and rewrite the committed copy."""
    rest, licence = _download(REST)
    webhooks, _ = _download(WEBHOOKS)
    pruned = prune(rest, OPERATIONS) | {"x-webhooks": prune_webhooks(webhooks, WEBHOOK_NAMES)}
    text = json.dumps(pruned, separators=(",", ":"), sort_keys=True).encode()
    # No time in the header: the same input gives the same bytes.
    (HERE / "openapi.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    (HERE / "openapi.LICENSE").write_bytes(licence)
    print(f"{len(OPERATIONS)} operations, {len(WEBHOOK_NAMES)} webhooks, {len(text)} bytes")


if __name__ == "__main__":
    main()
