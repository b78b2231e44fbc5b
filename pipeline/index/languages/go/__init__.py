"""Go: methods belong to their receiver's type, packages are known by their last path element."""

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files

from tree_sitter_go import language

from pipeline.index.languages.spec import Spec
from pipeline.index.values import Import

_VERSION = re.compile(r"/v\d+$|\.v\d+$")


def _is_test(name: str) -> bool:
    return name.endswith("_test.go")


def _imports(captured: Mapping[str, str], line: int) -> Iterable[Import]:
    module, alias = captured["module"], captured.get("alias", "")
    if alias == ".":
        yield Import(module, "*", "", line)
        return
    last = _VERSION.sub("", module).rsplit("/", 1)[-1]
    yield Import(module, "", alias or last, line)


SPECS = (
    Spec(
        name="go",
        suffixes=(".go",),
        grammar=language,
        query=files(__package__).joinpath("query.scm").read_text("utf-8"),
        wrappers=frozenset({"type_declaration"}),
        imports=_imports,
        is_test=_is_test,
    ),
)
