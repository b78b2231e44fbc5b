"""JavaScript with JSX: ES modules and CommonJS, functions kept in constants and properties."""

import re
from importlib.resources import files

from tree_sitter_javascript import language

from pipeline.index.languages.spec import Spec

QUERY = files(__package__).joinpath("query.scm").read_text("utf-8")
ONLY_JAVASCRIPT = files(__package__).joinpath("classes.scm").read_text("utf-8")
JSX = files(__package__).joinpath("jsx.scm").read_text("utf-8")
WRAPPERS = frozenset(
    {"export_statement", "lexical_declaration", "variable_declaration", "expression_statement"}
)
ATTRIBUTES = frozenset({"decorator"})

_TEST = re.compile(r"[.\-_](?:test|spec|e2e)\.[cm]?[jt]sx?$")
_HOLDER = re.compile(r"^(?:module\.)?exports(?:\.|$)|^this\.|^default$")


def is_test(name: str) -> bool:
    """`x.test.js`, `x.spec.ts`."""
    return bool(_TEST.search(name))


def rename(name: str) -> str:
    """`exports.f` and `this.f` are `f`, `A.prototype.f` is `A.f`; "" for a module's default."""
    return _HOLDER.sub("", name.strip("\"'#")).replace(".prototype.", ".")


SPECS = (
    Spec(
        name="javascript",
        suffixes=(".js", ".jsx", ".mjs", ".cjs"),
        grammar=language,
        query=QUERY + ONLY_JAVASCRIPT + JSX,
        wrappers=WRAPPERS,
        attributes=ATTRIBUTES,
        rename=rename,
        is_test=is_test,
    ),
)
