"""Where Go's imports lead: packages are folders, named from the module of the nearest go.mod."""

import re
from collections.abc import Mapping

from pipeline.index.languages.layout import Layout, Rules, joined, neighbours_in_folder, words

_MODULE = re.compile(r"^\s*module\s+[\"`]?([^\s\"`]+)", re.MULTILINE)


class _Finder:
    """Finds packages in one layout."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._modules: list[tuple[str, str]] = []
        for path in layout.named.get("go.mod", ()):
            named = _MODULE.search(layout.text(path))
            if named:
                self._modules.append((named[1], path.rpartition("/")[0]))
        self._modules.sort(reverse=True)  # longer names first

    def __call__(self, module: str, path: str) -> tuple[str, ...]:
        for name, folder in self._modules:
            if module == name or module.startswith(name + "/"):
                below = joined(folder, module.removeprefix(name))
                files = self._layout.folders.get(below, ())
                return tuple(f for f in files if f.endswith(".go") and not f.endswith("_test.go"))
        return ()


RULES: Mapping[str, Rules] = {
    "go": Rules(
        family="go",
        find=_Finder,
        around=neighbours_in_folder,
        own=frozenset(),
        above=frozenset(),
        constructors=frozenset(),
        implicit=False,
        builtins=words(
            "append cap clear close complex copy delete imag len make max min new panic print "
            "println real recover bool byte error float32 float64 int int8 int16 int32 int64 rune "
            "string uint uint8 uint16 uint32 uint64 uintptr any"
        ),
        common=frozenset({"Error", "String", "Close", "Read", "Write", "Len", "Lock", "Unlock"}),
        parameter=re.compile(r"(?P<name>\w+)\s+\*?(?P<type>[A-Za-z_][\w.]*)(?=\s*[,)\[])"),
        result=re.compile(r"\)\s*\(?\*?(?P<type>[A-Za-z_][\w.]*)[^()]*\)?$"),
    )
}
