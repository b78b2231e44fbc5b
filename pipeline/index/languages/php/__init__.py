"""PHP: traits that a class uses count as bases; `\\` is written `.`."""

from collections.abc import Iterable, Mapping
from importlib.resources import files

from tree_sitter_php import language_php

from pipeline.index.languages.spec import Spec
from pipeline.index.values import Import


def _is_test(name: str) -> bool:
    return name.endswith(("Test.php", "TestCase.php", ".phpt"))


def _imports(captured: Mapping[str, str], line: int) -> Iterable[Import]:
    if "file" in captured:
        yield Import(captured["file"], "*", "", line)
        return
    path = f"{captured.get('prefix', '')}\\{captured['name']}".strip("\\").replace("\\", ".")
    module, _, name = path.rpartition(".")
    yield Import(module, name, captured.get("alias", name), line)


SPECS = (
    Spec(
        name="php",
        suffixes=(".php", ".phtml", ".inc", ".phpt"),
        grammar=language_php,
        query=files(__package__).joinpath("query.scm").read_text("utf-8"),
        imports=_imports,
        is_test=_is_test,
    ),
)
