"""Where imports of JavaScript and TypeScript lead: relative paths, workspaces, tsconfig's paths."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.index.languages.layout import Layout, Rules, joined, words

_SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts")
_WRITTEN = re.compile(r"\.(?:[cm]?js|jsx)$")
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
_BUILTINS = words(
    "require parseInt parseFloat isNaN isFinite Array Object String Number Boolean Symbol Map Set "
    "WeakMap WeakSet Promise Error TypeError RangeError SyntaxError RegExp Date Math JSON Reflect "
    "Proxy BigInt Buffer URL URLSearchParams setTimeout setInterval setImmediate clearTimeout "
    "clearInterval queueMicrotask console process fetch structuredClone describe it test expect "
    "before after beforeEach afterEach Intl globalThis window document Uint8Array import"
)
_COMMON = words(
    "push pop shift unshift slice splice concat join map filter forEach reduce find findIndex some "
    "every sort reverse includes indexOf keys values entries get set has delete add clear then "
    "catch finally call apply bind toString valueOf replace match test exec split trim log error "
    "warn on once emit write end next send assign create freeze hasOwnProperty charAt startsWith "
    "endsWith toLowerCase toUpperCase substring padStart repeat resolve reject all"
)
_TYPE = r"(?P<type>[A-Za-z_][\w.]*)"


class _Finder:
    """Finds modules in one layout."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._packages = dict(self._named_packages())
        self._settings: dict[str, list[tuple[str, str]]] = {}

    def __call__(self, module: str, path: str) -> tuple[str, ...]:
        folder = path.rpartition("/")[0]
        if module.startswith("."):
            return self._at(joined(folder, module), module)
        for start, target in self._mapped(folder):
            if module == start or (start.endswith("/") and module.startswith(start)):
                found = self._at(joined(target, module.removeprefix(start)), module)
                if found:
                    return found
        name = "/".join(module.split("/")[: 2 if module.startswith("@") else 1])
        package = self._packages.get(name)
        if package is None:
            return ()
        below = module.removeprefix(name).lstrip("/")
        return self._inside(package, below) if below else self._entry(package)

    def _at(self, base: str, written: str) -> tuple[str, ...]:
        """The file of a path whose suffix, or `/index`, may be left out; `.js` may mean `.ts`."""
        paths = self._layout.paths
        if base in paths:
            return (base,)
        bare = _WRITTEN.sub("", base)
        for candidate in (base, bare) if bare != base else (base,):
            for suffix in _SUFFIXES:
                if candidate + suffix in paths:
                    return (candidate + suffix,)
        start = base + "/" if base else ""
        found = (f"{start}index{suffix}" for suffix in _SUFFIXES)
        return tuple(path for path in found if path in paths)[:1]

    def _named_packages(self) -> Iterator[tuple[str, str]]:
        for path in self._layout.named.get("package.json", ()):
            name = _json(self._layout, path).get("name")
            if isinstance(name, str) and "node_modules/" not in path:
                yield name, path.rpartition("/")[0]

    def _entry(self, folder: str) -> tuple[str, ...]:
        """Where a package of the repository begins: its sources rather than what is built."""
        about = _json(self._layout, joined(folder, "package.json"))
        names = [about.get(key) for key in ("source", "module", "main")]
        exports = about.get("exports")
        names += _strings(exports.get(".", exports) if isinstance(exports, dict) else exports)
        for name in [n for n in names if isinstance(n, str)] + ["src/index", "index", "lib/index"]:
            found = self._at(joined(folder, name), name)
            if found:
                return found
        return ()

    def _inside(self, folder: str, below: str) -> tuple[str, ...]:
        return self._at(joined(folder, below), below) or self._at(joined(folder, "src", below), "")

    def _mapped(self, folder: str) -> list[tuple[str, str]]:
        """The `paths` of the nearest tsconfig.json as (prefix, folder); `*` only at the end."""
        if folder not in self._settings:
            path = joined(folder, "tsconfig.json")
            if path in self._layout.paths:
                self._settings[folder] = list(_paths(_json(self._layout, path), folder))
            else:
                above = folder.rpartition("/")[0]
                self._settings[folder] = self._mapped(above) if folder else []
        return self._settings[folder]


def _paths(about: Mapping[str, Any], folder: str) -> Iterator[tuple[str, str]]:
    options = about.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    base = options.get("baseUrl")
    root = joined(folder, base) if isinstance(base, str) else folder
    mapping = options.get("paths")
    for start, targets in mapping.items() if isinstance(mapping, dict) else ():
        for target in targets if isinstance(targets, list) else ():
            if isinstance(target, str):
                yield start.removesuffix("*"), joined(root, target.removesuffix("*"))
    if isinstance(base, str):
        yield "", root


def _json(layout: Layout, path: str) -> Mapping[str, Any]:
    """A manifest, comments and trailing commas allowed; empty when it is none."""
    try:
        found = json.loads(_COMMENT.sub(r"\1", layout.text(path)))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _strings(value: object) -> list[str]:
    """All strings of a small tree, as `exports` has them."""
    waiting: list[object] = [value]
    found: list[str] = []
    while waiting and len(found) < 50:
        item = waiting.pop(0)
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict):
            waiting += item.values()
    return found


_RULES = Rules(
    family="javascript",
    find=_Finder,
    implicit=False,
    builtins=_BUILTINS,
    common=_COMMON,
    parameter=re.compile(
        r"(?P<name>\w+)\??\s*:\s*" + _TYPE + r"(?=\s*(?:[,)=]|\|\s*(?:null|und)))"
    ),
    result=re.compile(r"\)\s*:\s*" + _TYPE + r"\s*$"),
)

RULES: Mapping[str, Rules] = {
    "javascript": _RULES,
    "typescript": _RULES,
    "tsx": _RULES,
}
