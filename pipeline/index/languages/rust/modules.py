"""Where Rust's paths lead: crates from Cargo.toml, modules from files below `src`."""

import re
from collections.abc import Mapping, Sequence

from pipeline.index.languages.layout import Layout, Rules, joined, words

_NAME = re.compile(r"^\s*\[(?:package|lib)\][^\[]*?^\s*name\s*=\s*\"([^\"]+)\"", re.MULTILINE)
_ROOTS = ("lib.rs", "main.rs")
_TYPE = r"(?:&\s*)?(?:'\w+\s+)?(?:mut\s+)?(?:dyn\s+|impl\s+)?(?P<type>[A-Za-z_]\w*)(?:<[^()]*>)?"


class _Finder:
    """Finds modules in one layout. What is written inline stands in the file around it."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._crates: dict[str, str] = {}
        for path in layout.named.get("Cargo.toml", ()):
            for name in _NAME.findall(layout.text(path)):
                self._crates[name.replace("-", "_")] = joined(path.rpartition("/")[0], "src")

    def __call__(self, module: str, path: str) -> tuple[str, ...]:
        first, *rest = module.split(".")
        if first == "crate":
            return self._below(self._source(path), rest)
        if first in self._crates:
            return self._below(self._crates[first], rest)
        folder = _inside(path)
        if first == "super":
            while first == "super":
                folder = folder.rpartition("/")[0]
                first, *rest = rest or [""]
            rest = [first, *rest] if first else rest
            return self._below(folder, rest)
        rest = rest if first == "self" else [first, *rest]
        found = self._below(folder, rest)
        return found or ((path,) if first == "self" else ())

    def _below(self, folder: str, parts: Sequence[str]) -> tuple[str, ...]:
        """The file of the longest beginning of a path that has one."""
        for end in range(len(parts), -1, -1):
            base = joined(folder, *parts[:end])
            tried = [base + ".rs", joined(base, "mod.rs"), *(joined(base, r) for r in _ROOTS)]
            found = next((path for path in tried if path in self._layout.paths), None)
            if found is not None and (end or not parts or folder.endswith("src")):
                return (found,)
        return ()

    def _source(self, path: str) -> str:
        """The folder of the crate that a file belongs to."""
        folder = path.rpartition("/")[0]
        while folder:
            if any(joined(folder, root) in self._layout.paths for root in _ROOTS):
                return folder
            folder = folder.rpartition("/")[0]
        return path.rpartition("/")[0]


def _inside(path: str) -> str:
    """The folder that holds the modules below a file."""
    folder, _, name = path.rpartition("/")
    return folder if name in {"mod.rs", *_ROOTS} else joined(folder, name.removesuffix(".rs"))


RULES: Mapping[str, Rules] = {
    "rust": Rules(
        family="rust",
        find=_Finder,
        own=frozenset({"self", "Self"}),
        above=frozenset(),
        constructors=frozenset(),
        implicit=False,
        roots=frozenset({"crate", "super", "self"}),
        builtins=words(
            "Some None Ok Err Box Vec String Option Result format println print eprintln vec "
            "assert assert_eq assert_ne panic write writeln matches todo unreachable "
            "unimplemented debug_assert drop Default Arc Rc Cell RefCell HashMap HashSet "
            "std core alloc Send Sync Sized Drop Fn FnMut FnOnce AsMut AsRef From Into TryFrom "
            "TryInto FromIterator Iterator Extend IntoIterator DoubleEndedIterator "
            "ExactSizeIterator ToString ToOwned Clone Copy PartialEq Eq PartialOrd Ord"
        ),
        common=words(
            "new clone unwrap expect iter into from map collect push len is_empty get insert "
            "contains as_ref as_str to_string to_owned into_iter next ok_or unwrap_or and_then "
            "default fmt eq lock write read join filter borrow as_mut extend"
        ),
        parameter=re.compile(r"(?P<name>\w+)\s*:\s*" + _TYPE + r"(?=\s*[,)])"),
        result=re.compile(r"->\s*" + _TYPE + r"\s*(?:where.*)?$"),
    )
}
