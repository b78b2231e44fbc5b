"""Where includes of C and C++ lead: beside the file, then to the only path that ends so."""

import re
from collections.abc import Mapping

from pipeline.index.languages.layout import Find, Layout, Rules, joined, words


def _finder(layout: Layout) -> Find:
    def find(module: str, path: str) -> tuple[str, ...]:
        beside = joined(path.rpartition("/")[0], module)
        if beside in layout.paths:
            return (beside,)
        tail = joined(module)
        return layout.ending(tail) if tail else ()

    return find


_RULES = Rules(
    family="c",
    find=_finder,
    own=frozenset({"this"}),
    above=frozenset(),
    constructors=frozenset(),
    builtins=words(
        "sizeof alignof offsetof defined printf fprintf sprintf snprintf malloc calloc realloc "
        "free memcpy memset memmove memcmp strlen strcmp strncmp strcpy strchr strstr assert abort "
        "exit std static_cast dynamic_cast reinterpret_cast const_cast decltype"
    ),
    common=words(
        "size begin end push_back emplace_back insert erase find empty clear get reset str c_str "
        "data front back at count reserve resize append substr length open close read write"
    ),
    parameter=re.compile(
        r"(?:const\s+)?(?P<type>[A-Za-z_]\w*(?:::\w+)*)\s*[&*\s]\s*(?P<name>\w+)(?=\s*[,)=])"
    ),
)

RULES: Mapping[str, Rules] = {"c": _RULES, "cpp": _RULES}
