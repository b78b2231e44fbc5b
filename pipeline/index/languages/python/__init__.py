"""Python: read by the interpreter's own parser, by tree-sitter where that one refuses."""

from importlib.resources import files

from tree_sitter_python import language

from pipeline.index.languages.python.reader import compiles, read
from pipeline.index.languages.python.undefined import undefined
from pipeline.index.languages.spec import Spec


def _is_test(name: str) -> bool:
    stem = name.removesuffix(".py")
    return stem.startswith("test_") or stem.endswith("_test") or stem in {"tests", "conftest"}


SPECS = (
    Spec(
        name="python",
        suffixes=(".py", ".pyi", ".pyw"),
        grammar=language,
        query=files(__package__).joinpath("query.scm").read_text("utf-8"),
        wrappers=frozenset({"decorated_definition"}),
        attributes=frozenset({"decorator"}),
        is_test=_is_test,
        own=read,
        compiles=compiles,
        undefined=undefined,
    ),
)
