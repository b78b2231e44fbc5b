"""Where imports lead: what a language folder declares in its `modules.py`.

Such a module defines `RULES`, by name of language. The rules see the paths of a commit and the text
of its manifests, nothing else: no interpreter, compiler or package manager is asked.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules

from pipeline.index import languages

Find = Callable[[str, str], tuple[str, ...]]
Around = Callable[[str], tuple[str, ...]]

_NO_HINT = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of a commit: `folders` gives the files right in a folder ("" is the top), `named`
    the paths of a file name. `text` reads a manifest, "" when it cannot be read."""

    paths: frozenset[str]
    folders: Mapping[str, tuple[str, ...]]
    named: Mapping[str, tuple[str, ...]]
    text: Callable[[str], str]

    def ending(self, tail: str) -> tuple[str, ...]:
        """The files whose path is `tail` or ends with it after a slash."""
        found = self.named.get(tail.rpartition("/")[2], ())
        return tuple(path for path in found if path == tail or path.endswith("/" + tail))


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def _nowhere(layout: Layout) -> Around:
    return lambda path: ()


@dataclass(frozen=True, slots=True)
class Rules:
    """How names of one language find what they mean.

    `find` gives from a module as written and the importing path the files it stands for, none
    outside the repository; `around` the files whose names are seen without an import. `family`
    are languages that call each other. `own` are the words for the object or class at hand,
    `above` those for its bases. `constructors` are methods that stand for their class, as does
    one with its class's name. `implicit`: members are seen without `this`. `last_counts`: of
    definitions of one name the last is meant, else any of them. `package` is the file that stands
    for its folder. `makers` are methods that every class has and that give an instance, `roots`
    words that begin the path of a module in a call, `builtins` names that the language itself
    defines, `common` methods of its own types. `parameter` (groups `name`, `type`) and `result`
    (`type`) read types in a signature. `variables_apart`: a function that is called is never hidden
    by a variable of its name.
    """

    family: str
    find: Callable[[Layout], Find]
    around: Callable[[Layout], Around] = _nowhere
    own: frozenset[str] = frozenset({"this", "self"})
    above: frozenset[str] = frozenset({"super"})
    constructors: frozenset[str] = frozenset({"constructor"})
    implicit: bool = True
    last_counts: bool = False
    package: str = ""
    makers: frozenset[str] = frozenset()
    roots: frozenset[str] = frozenset()
    builtins: frozenset[str] = frozenset()
    common: frozenset[str] = field(default=frozenset())
    parameter: re.Pattern[str] = _NO_HINT
    result: re.Pattern[str] = _NO_HINT
    variables_apart: bool = False


def layout_of(paths: Iterable[str], text: Callable[[str], str]) -> Layout:
    """The layout of these paths."""
    folders: dict[str, list[str]] = {}
    named: dict[str, list[str]] = {}
    everything = sorted(set(paths))
    for path in everything:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(path)
        named.setdefault(name, []).append(path)
    return Layout(
        frozenset(everything),
        {key: tuple(value) for key, value in folders.items()},
        {key: tuple(value) for key, value in named.items()},
        text,
    )


@cache
def rules() -> dict[str, Rules]:
    """The rules of every language that has some, by its name."""
    found: dict[str, Rules] = {}
    for folder in iter_modules(languages.__path__):
        name = f"{languages.__name__}.{folder.name}.modules"
        if folder.ispkg and find_spec(name) is not None:
            found |= import_module(name).RULES
    return found


def neighbours_in_folder(layout: Layout) -> Around:
    """Files of the same folder and suffix see each other's names."""

    def around(path: str) -> tuple[str, ...]:
        folder, _, name = path.rpartition("/")
        suffix = "." + name.rpartition(".")[2]
        return tuple(p for p in layout.folders.get(folder, ()) if p.endswith(suffix) and p != path)

    return around


def joined(*parts: str) -> str:
    """A path from parts, `.` and `..` resolved; "" when it leaves the repository."""
    kept: list[str] = []
    for part in "/".join(filter(None, parts)).split("/"):
        if part == "..":
            if not kept:
                return ""
            kept.pop()
        elif part not in {"", "."}:
            kept.append(part)
    return "/".join(kept)
