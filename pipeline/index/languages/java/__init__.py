"""Java."""

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files

from tree_sitter_java import language

from pipeline.index.languages.spec import Spec
from pipeline.index.values import Import

_TEST = re.compile(r"^Test[A-Z_].*\.java$|(?:Tests?|TestCase|IT)\.java$")


def _is_test(name: str) -> bool:
    return bool(_TEST.search(name))


def _imports(captured: Mapping[str, str], line: int) -> Iterable[Import]:
    path = captured["path"]
    if "all" in captured:
        yield Import(path, "*", "", line)
        return
    module, _, name = path.rpartition(".")
    yield Import(module, name, name, line)


SPECS = (
    Spec(
        name="java",
        suffixes=(".java",),
        grammar=language,
        query=files(__package__).joinpath("query.scm").read_text("utf-8"),
        imports=_imports,
        is_test=_is_test,
    ),
)
