"""C++: C's queries and classes, namespaces, templates. Headers named `.h` are read as C++."""

from importlib.resources import files

from tree_sitter_cpp import language

from pipeline.index.languages.c import QUERY, includes, is_test
from pipeline.index.languages.spec import Spec

SPECS = (
    Spec(
        name="cpp",
        suffixes=(".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".h++", ".ipp"),
        grammar=language,
        query=files(__package__).joinpath("query.scm").read_text("utf-8") + QUERY,
        wrappers=frozenset({"template_declaration"}),
        attributes=frozenset({"template_parameter_list"}),
        imports=includes,
        is_test=is_test,
    ),
)
