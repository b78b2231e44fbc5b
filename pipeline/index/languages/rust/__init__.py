"""Rust: what an `impl` holds belongs to its type; `use` trees are flattened."""

from collections.abc import Iterable, Mapping
from importlib.resources import files

from tree_sitter_rust import language

from pipeline.index.languages.rust.uses import flatten
from pipeline.index.languages.spec import Spec
from pipeline.index.values import Import


def _imports(captured: Mapping[str, str], line: int) -> Iterable[Import]:
    if "tree" in captured:
        yield from flatten(captured["tree"], line)
    else:
        # `mod a;` is a file of the same crate.
        yield Import(f"self.{captured['module']}", "", captured["module"], line)


def _is_test(name: str) -> bool:
    return name in {"tests.rs", "test.rs"} or name.endswith(("_test.rs", "_tests.rs"))


SPECS = (
    Spec(
        name="rust",
        suffixes=(".rs",),
        grammar=language,
        query=files(__package__).joinpath("query.scm").read_text("utf-8"),
        attributes=frozenset({"attribute_item"}),
        imports=_imports,
        is_test=_is_test,
    ),
)
