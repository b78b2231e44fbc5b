"""TypeScript and TSX: JavaScript's queries and what types add to them."""

from importlib.resources import files

from tree_sitter_typescript import language_tsx, language_typescript

from pipeline.index.languages.javascript import ATTRIBUTES, JSX, QUERY, WRAPPERS, is_test, rename
from pipeline.index.languages.spec import Spec

_TYPES = files(__package__).joinpath("query.scm").read_text("utf-8")

SPECS = (
    Spec(
        name="typescript",
        suffixes=(".ts", ".mts", ".cts"),
        grammar=language_typescript,
        query=QUERY + _TYPES,
        wrappers=WRAPPERS | {"ambient_declaration"},
        attributes=ATTRIBUTES,
        rename=rename,
        is_test=is_test,
    ),
    Spec(
        name="tsx",
        suffixes=(".tsx",),
        grammar=language_tsx,
        query=QUERY + _TYPES + JSX,
        wrappers=WRAPPERS | {"ambient_declaration"},
        attributes=ATTRIBUTES,
        rename=rename,
        is_test=is_test,
    ),
)
