"""Where PHP's names lead: classes are files whose path ends with their namespace, by PSR-4."""

import re
from collections.abc import Mapping

from pipeline.index.languages.layout import Find, Layout, Rules, joined, neighbours_in_folder, words


def _finder(layout: Layout) -> Find:
    known: dict[str, tuple[str, ...]] = {}

    def named(module: str) -> tuple[str, ...]:
        # The first parts of a namespace need not be folders: `App\\` is often `src/`.
        parts = module.split(".")
        for start in range(len(parts)):
            found = layout.ending("/".join(parts[start:]) + ".php")
            if found:
                return found if start < len(parts) - 1 or len(found) == 1 else ()
        return ()

    def find(module: str, path: str) -> tuple[str, ...]:
        if module.endswith((".php", ".inc")):
            beside = joined(path.rpartition("/")[0], module)
            return (beside,) if beside in layout.paths else layout.ending(module.lstrip("./"))
        if module not in known:
            known[module] = named(module)
        return known[module]

    return find


RULES: Mapping[str, Rules] = {
    "php": Rules(
        family="php",
        variables_apart=True,
        find=_finder,
        around=neighbours_in_folder,
        own=frozenset({"this", "self", "static"}),
        above=frozenset({"parent"}),
        constructors=frozenset({"__construct"}),
        implicit=False,
        builtins=words(
            "array isset empty count strlen strpos str_replace sprintf printf implode explode "
            "in_array array_map array_filter array_merge array_keys array_values is_array is_null "
            "is_string is_int trim json_encode json_decode var_dump define defined"
        ),
        common=frozenset({"get", "set", "add", "has", "remove", "count", "current", "next", "key"}),
        parameter=re.compile(r"\??(?P<type>[A-Z][\w]*)\s+&?\$(?P<name>\w+)"),
        result=re.compile(r"\)\s*:\s*\??(?P<type>\w+)\s*$"),
    )
}
