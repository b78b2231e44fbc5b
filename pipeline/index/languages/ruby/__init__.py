"""Ruby: modules count as classes, mixed-in modules as bases."""

from collections.abc import Iterable, Mapping
from importlib.resources import files

from tree_sitter_ruby import language

from pipeline.index.languages.spec import Spec
from pipeline.index.values import Import


def _is_test(name: str) -> bool:
    return name.endswith(("_spec.rb", "_test.rb")) or name.startswith(("test_", "spec_"))


def _imports(captured: Mapping[str, str], line: int) -> Iterable[Import]:
    here = "./" if captured["how"] == "require_relative" else ""
    yield Import(here + captured["module"], "*", "", line)


def _rename(name: str) -> str:
    return name.strip(":\"'")


SPECS = (
    Spec(
        name="ruby",
        suffixes=(".rb", ".rake", ".gemspec"),
        grammar=language,
        query=files(__package__).joinpath("query.scm").read_text("utf-8"),
        imports=_imports,
        rename=_rename,
        is_test=_is_test,
    ),
)
