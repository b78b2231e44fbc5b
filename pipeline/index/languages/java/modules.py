"""Where Java's imports lead: packages are folders whose path ends with their name."""

import re
from collections.abc import Mapping

from pipeline.index.languages.layout import Layout, Rules, neighbours_in_folder, words


class _Finder:
    """Finds packages and classes in one layout."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._folders: dict[str, list[str]] = {}
        for folder in layout.folders:
            self._folders.setdefault(folder.rpartition("/")[2], []).append(folder)

    def __call__(self, module: str, path: str) -> tuple[str, ...]:
        tail = module.replace(".", "/")
        found = self._layout.ending(tail + ".java")
        for folder in self._folders.get(tail.rpartition("/")[2], ()):
            if folder == tail or folder.endswith("/" + tail):
                found += tuple(f for f in self._layout.folders[folder] if f.endswith(".java"))
        return found


RULES: Mapping[str, Rules] = {
    "java": Rules(
        family="java",
        variables_apart=True,
        find=_Finder,
        around=neighbours_in_folder,
        own=frozenset({"this"}),
        builtins=words(
            "String Object Integer Long Double Float Boolean Character Byte Short Math System "
            "Thread Exception RuntimeException IllegalArgumentException IllegalStateException "
            "NullPointerException UnsupportedOperationException StringBuilder Override Class Enum "
            "Iterable Runnable Record"
        ),
        common=words(
            "get set put add remove size isEmpty contains containsKey equals hashCode toString "
            "append length substring iterator next hasNext stream map filter collect forEach of "
            "close read write run apply accept test compareTo getName getClass valueOf"
        ),
        parameter=re.compile(r"(?P<type>[A-Z][\w.]*)(?:<[^()]*?>)?\s+(?P<name>\w+)(?=\s*[,)])"),
        result=re.compile(r"(?P<type>[A-Z][\w.]*)\s+\w+\s*\("),
    )
}
