"""C: functions, structures, function-like macros; an include brings all names of a header."""

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files

from tree_sitter_c import language

from pipeline.index.languages.spec import Spec
from pipeline.index.values import Import

QUERY = files(__package__).joinpath("query.scm").read_text("utf-8")

_TEST = re.compile(r"^test[_-]|^tests?\.|[_-](?:unit)?tests?\.[a-z+]+$", re.IGNORECASE)


def is_test(name: str) -> bool:
    """`test_x.c`, `x_test.cc`, `x-unittest.cpp`."""
    return bool(_TEST.search(name))


def includes(captured: Mapping[str, str], line: int) -> Iterable[Import]:
    """`#include`: the path as written, without its quotes or brackets."""
    yield Import(captured["module"].strip('<>"'), "*", "", line)


SPECS = (
    Spec(
        name="c",
        suffixes=(".c",),
        grammar=language,
        query=QUERY,
        imports=includes,
        is_test=is_test,
    ),
)
