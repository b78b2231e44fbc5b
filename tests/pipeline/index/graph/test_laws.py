"""What holds for the graph of any parsed files."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.index.graph import graph_of
from pipeline.index.graph.packing import load, pack
from pipeline.index.languages.layout import rules
from pipeline.index.values import Binding, Call, Definition, Import, ParsedFile

# Few names, so that they meet; odd ones, so that nothing is taken for granted.
NAMES = st.sampled_from(
    [
        "a",
        "b",
        "A",
        "B",
        "f",
        "__init__",
        "constructor",
        "self",
        "cls",
        "this",
        "super()",
        "super",
        "crate",
        "default",
        "new",
        "x()",
        "x[]",
        '""',
        "?",
        "",
        ".",
        "..",
        "é",
        "a-b",
        "parent",
    ]
)
DOTTED = st.lists(NAMES, min_size=1, max_size=5).map(".".join)
MODULES = st.one_of(
    DOTTED, st.sampled_from(["./a", "../b", "../../..", ".", "...", "/", "a/b", "*"])
)
DEFINITIONS = st.builds(
    Definition,
    name=DOTTED,
    kind=st.sampled_from(["class", "function"]),
    start=st.integers(1, 9),
    end=st.integers(1, 9),
    signature=st.sampled_from(
        [
            "",
            "def f(a: A, b: 'x.B') -> A:",
            "f(x: A): B",
            "(",
            "fn f(a: &A) -> f",
            "func (a *A) f()",
        ]
    ),
    bases=st.lists(DOTTED, max_size=3).map(tuple),
)
FILES = st.builds(
    ParsedFile,
    language=st.sampled_from([*rules(), "", "unheard of"]),
    lines=st.integers(0, 99),
    definitions=st.lists(DEFINITIONS, max_size=6).map(tuple),
    imports=st.lists(
        st.builds(Import, MODULES, st.one_of(NAMES, st.just("*")), DOTTED, st.integers(1, 9)),
        max_size=5,
    ).map(tuple),
    calls=st.lists(st.builds(Call, DOTTED, DOTTED, st.integers(1, 9)), max_size=8).map(tuple),
    bindings=st.lists(
        st.builds(Binding, DOTTED, st.one_of(NAMES, st.just("self.a")), DOTTED), max_size=5
    ).map(tuple),
    degraded=st.sampled_from(["", "", "syntax"]),
)
PATHS = st.sampled_from(
    [
        "a.py",
        "a/__init__.py",
        "a/b.py",
        "b/a.js",
        "index.ts",
        "src/lib.rs",
        "src/a.rs",
        "a/b/A.java",
        "A.php",
        "a.c",
        "a/a.h",
        "x/a.go",
        ":",
        "b/LICENSE",
        "tests/test_a.py",
        "\udc80.py",
    ]
)
TREES = st.dictionaries(PATHS, st.tuples(st.booleans(), FILES), max_size=6)


@settings(max_examples=50, deadline=None)
@given(TREES)
def test_no_parsed_files_break_it(tree: dict[str, tuple[bool, ParsedFile]]) -> None:
    """Whatever files hold, there is a graph; its ends are its units, both directions agree."""
    sources = [(path, is_test, parsed) for path, (is_test, parsed) in tree.items()]
    found = graph_of(sources, text=lambda path: "module a\n" if path.endswith("go.mod") else "{}")
    edges = list(found.edges())
    assert all(edge.source in found and edge.target in found for edge in edges)
    assert {edge.confidence for edge in edges} <= {0.3, 0.6, 1.0}
    for edge in edges[:20]:
        # Of edges with the same ends and line neighbours give the surest.
        ends = (edge.source, edge.target, edge.line)
        into = found.neighbours(edge.target, [edge.kind], "in", limit=10_000)
        out = found.neighbours(edge.source, [edge.kind], "out", limit=10_000)
        assert ends in {(e.source, e.target, e.line) for e in into}
        assert ends in {(e.source, e.target, e.line) for e in out}
    again = load(pack(found))
    assert again is not None
    assert list(again.edges()) == edges
