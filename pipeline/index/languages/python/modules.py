"""Where Python's imports lead: packages with and without `__init__.py`, below any source root."""

import builtins
import re
import sys
from collections.abc import Mapping

from pipeline.index.languages.layout import Layout, Rules

_SUFFIXES = (".py", ".pyi")
_COMMON = frozenset(
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float)
    for name in dir(kind)
    if not name.startswith("__")
) | {"read", "write", "close", "flush", "match", "search", "group", "sub", "exists", "strip", "put"}
_NAME = r"(?P<type>[\w.]+)"
_QUOTED = r"""["']?(?:(?:t\.|typing\.)?(?:Optional|Type|type)\[["']?)?"""
_PLAIN_TYPE = _QUOTED + _NAME + r"""["']?\s*(?:\]|\|\s*None|["'])*"""


def _roots(layout: Layout) -> list[str]:
    """Folders that modules are found in, as prefixes: the top, `src`, then what holds a package
    that is in none itself."""
    initial = [p.rpartition("/")[0] for p in layout.named.get("__init__.py", ())]
    holders = {folder.rpartition("/")[0] for folder in initial} - set(initial)
    first = [root for root in ("", "src", "lib") if not root or root in holders]
    rest = sorted(holders - set(first), key=lambda root: (root.count("/"), root))
    return [root and root + "/" for root in (*first, *rest)]


class _Finder:
    """Finds modules in one layout; remembers what absolute names led to."""

    def __init__(self, layout: Layout) -> None:
        self._paths = layout.paths
        self._roots = _roots(layout)
        self._folders = _folders_with_python(layout)
        self._known: dict[str, tuple[str, ...]] = {}
        self._tops: dict[str, list[str]] = {}

    def __call__(self, module: str, path: str) -> tuple[str, ...]:
        if module.startswith("."):
            return self._relative(module, path)
        return self._absolute(module) or self._beside(module, path)

    def _at(self, base: str) -> tuple[str, ...]:
        for suffix in _SUFFIXES:
            for path in (base + suffix, f"{base}/__init__{suffix}"):
                if path in self._paths:
                    return (path,)
        return ()

    def _absolute(self, module: str) -> tuple[str, ...]:
        if module not in self._known:
            tail = module.replace(".", "/")
            found = (self._at(root + tail) for root in self._roots_of(module.partition(".")[0]))
            self._known[module] = next(filter(None, found), ())
        return self._known[module]

    def _roots_of(self, top: str) -> list[str]:
        if top not in self._tops:
            # A folder of the same name somewhere is not the standard library.
            usual = self._roots[:1] if top in sys.stdlib_module_names else self._roots
            self._tops[top] = [r for r in usual if r + top in self._folders or self._at(r + top)]
        return self._tops[top]

    def _relative(self, module: str, path: str) -> tuple[str, ...]:
        name = module.lstrip(".")
        parts = path.split("/")
        up = len(module) - len(name)
        if up > len(parts):
            return ()
        base = "/".join([*parts[:-up], *filter(None, name.split("."))])
        return self._at(base) if base else ()

    def _beside(self, module: str, path: str) -> tuple[str, ...]:
        """Scripts in one folder, which is no package, import each other by bare names."""
        folder = path.rpartition("/")[0]
        if not folder or f"{folder}/__init__.py" in self._paths:
            return ()
        return self._at(f"{folder}/{module.replace('.', '/')}")


def _folders_with_python(layout: Layout) -> set[str]:
    """Folders with Python files anywhere below: packages need no file that says so."""
    found: set[str] = set()
    for folder, paths in layout.folders.items():
        above = folder if any(path.endswith(_SUFFIXES) for path in paths) else ""
        while above and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found


RULES: Mapping[str, Rules] = {
    "python": Rules(
        family="python",
        find=_Finder,
        own=frozenset({"self", "cls"}),
        above=frozenset({"super()"}),
        constructors=frozenset({"__init__", "__new__"}),
        implicit=False,
        last_counts=True,
        package="__init__.py",
        builtins=frozenset(dir(builtins)),
        common=_COMMON,
        parameter=re.compile(r"(?P<name>\w+)\s*:\s*" + _PLAIN_TYPE + r"(?=\s*[,)=])"),
        result=re.compile(r"->\s*" + _PLAIN_TYPE + r"\s*:"),
    )
}
