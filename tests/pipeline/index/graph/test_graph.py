"""The graph of small repositories, its bounds, and its way through a store."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pipeline.index.graph import Graph, build_graph, graph_of
from pipeline.index.graph.packing import load, pack, version
from pipeline.index.parse import is_test, language_of, parse
from pipeline.index.values import Edge, EdgeKind
from tests.indexed import indexed
from tests.pipeline.index.graph.cases import CASES


def graph(files: Mapping[str, str]) -> Graph:
    """The graph of these files."""
    sources = [(p, is_test(p), parse(p, t.encode())) for p, t in files.items() if language_of(p)]
    return graph_of(sources, files, lambda path: files.get(path, ""))


def written(edges: list[Edge]) -> set[str]:
    """Edges as the cases write them."""
    return {f"{edge.source} -> {edge.target} {edge.confidence}" for edge in edges}


@pytest.mark.parametrize("kind", ["invokes", "imports", "inherits"])
@pytest.mark.parametrize("name", CASES)
def test_edges_of_a_small_repository(name: str, kind: EdgeKind) -> None:
    """Each rule of each language gives its edges and not those it must not give."""
    found = written(list(graph(CASES[name]["files"]).edges([kind])))
    for line in CASES[name].get(kind, ()):
        if line.startswith("! "):
            assert not [edge for edge in found if f"{edge} ".startswith(line[2:] + " ")]
        else:
            assert line in found


def many(count: int) -> dict[str, str]:
    """A caller and so many classes with a method of the called name."""
    files = {f"m{n}.py": f"class C{n}:\n    def handle(self): pass\n" for n in range(count)}
    return files | {"use.py": "def f(x):\n    x.handle()\n"}


def test_ambiguous_callees_are_all_kept() -> None:
    """A name that several units have leads to each of them with 0.3, from both ends."""
    found = graph(many(9))
    out = found.neighbours("use.py:f", ["invokes"], "out")
    assert {edge.target for edge in out} == {f"m{n}.py:C{n}.handle" for n in range(9)}
    assert {edge.confidence for edge in out} == {0.3}
    (back,) = found.neighbours("m4.py:C4.handle", ["invokes"], "in")
    assert back == Edge("use.py:f", "m4.py:C4.handle", "invokes", 0.3, 2)
    assert found.degree("use.py:f", ["invokes"]) == 9


def test_one_of_a_name_is_surer_than_two() -> None:
    """The same call has 0.6 as long as one unit has the name."""
    (edge,) = graph(many(1)).neighbours("use.py:f", ["invokes"])
    assert edge.confidence == 0.6


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "from b import *\nx()\n", "b.py": "from a import *\n"},
        {"a.py": "from b import f\nf()\n", "b.py": "from a import f\n"},
        {"a.py": "class A(B): pass\nclass B(A):\n    def m(self):\n        self.n()\n"},
        {"a.py": "x = y()\ny = x()\nx.m()\n\ndef f():\n    a = b()\n    b = a()\n    a.m()\n"},
        {"a.py": "def f() -> g: pass\ndef g() -> f: pass\nf().x().y()\n"},
        {"a.js": "export * from './b'; import {q} from './b'; q()", "b.js": "export * from './a'"},
        {"a.rb": "class A < A\n def f; g(); end\nend\n"},
    ],
)
def test_cycles_end(files: dict[str, str]) -> None:
    """Re-exports, bases and types that go in circles end and lead nowhere."""
    assert not [e for e in graph(files).edges(["invokes"]) if e.target.endswith((".m", ".n", ".q"))]


def test_a_walk_in_a_circle_ends() -> None:
    """Calls in a circle are given once each, however deep one looks."""
    files = {"a.py": "def f():\n    g()\n\ndef g():\n    h()\n\ndef h():\n    f()\n"}
    found = graph(files).neighbours("a.py:f", ["invokes"], "out", depth=100)
    assert [(e.source, e.target) for e in found] == [
        ("a.py:f", "a.py:g"),
        ("a.py:g", "a.py:h"),
        ("a.py:h", "a.py:f"),
    ]


def test_depth_limit_and_confidence_bound_the_answer() -> None:
    """Near and sure edges come first; limit, depth and least confidence cut the rest."""
    files = many(5) | {"use.py": "def f(x):\n    x.handle()\n    g()\n\ndef g():\n    f(1)\n"}
    found = graph(files)
    assert found.neighbours("use.py:f", ["invokes"], "out", limit=2)[0].target == "use.py:g"
    assert len(found.neighbours("use.py:f", ["invokes"], "out", limit=2)) == 2
    sure = found.neighbours("use.py:f", ["invokes"], "out", depth=2, min_confidence=0.6)
    assert written(sure) == {"use.py:f -> use.py:g 1.0", "use.py:g -> use.py:f 1.0"}


def test_tests_can_be_left_out() -> None:
    """Edges from tests vanish on request, unless a test itself is asked about."""
    files = {
        "a.py": "def f(): pass\n",
        "tests/test_a.py": "from a import f\n\ndef test_f():\n    f()\n",
    }
    found = graph(files)
    assert found.is_test("tests/test_a.py:test_f")
    assert not found.is_test("a.py:f")
    assert found.neighbours("a.py:f", ["invokes"])
    assert not found.neighbours("a.py:f", ["invokes"], with_tests=False)
    assert found.neighbours("tests/test_a.py:test_f", ["invokes"], with_tests=False)


def test_imports_carry_line_and_alias() -> None:
    """An import says where it stands and what the name is called there."""
    files = {"a.py": "def f(): pass\n", "b.py": "\nfrom a import f as g\nimport a as c\n"}
    found = graph(files).neighbours("b.py", ["imports"], "out")
    assert set(found) == {
        Edge("b.py", "a.py:f", "imports", 1.0, 2, "g"),
        Edge("b.py", "a.py", "imports", 1.0, 3, "c"),
    }


def test_folders_contain_files_and_files_units() -> None:
    """Containment goes from folders to methods; files without a parser are in it too."""
    found = graph({"p/q/a.py": "class A:\n    def m(self): pass\n", "p/LICENSE": "x"})
    edges = found.neighbours("p", ["contains"], "out", depth=9)
    assert [edge.target for edge in edges] == [
        "p/LICENSE",
        "p/q",
        "p/q/a.py",
        "p/q/a.py:A",
        "p/q/a.py:A.m",
    ]


def test_an_unknown_unit_has_no_neighbours() -> None:
    """What the commit does not have is no error."""
    found = graph({"a.py": ""})
    assert found.neighbours(["nothing", "a.py:f"]) == []
    assert found.degree("nothing") == 0
    assert "nothing" not in found


def test_a_graph_survives_packing() -> None:
    """What is read back answers like what was written."""
    found = graph(CASES["python: self, cls and super through bases of another file"]["files"])
    again = load(pack(found))
    assert again is not None
    assert list(again.edges()) == list(found.edges())
    assert again.neighbours("a.py:A.m") == found.neighbours("a.py:A.m")


def test_a_built_graph_is_read_from_the_store(tmp_path: Path) -> None:
    """The second time the graph comes from the store, with manifests and tests as in git."""
    files = CASES["javascript: workspaces, index files, CommonJS and default exports"]["files"]
    with indexed(tmp_path, files) as index:
        first = build_graph(index)
        assert index.kept(version(), index.commit) is not None
        again = build_graph(index)
        assert list(again.edges()) == list(first.edges())
        edges = written(again.neighbours("packages/b/main.js:f", ["invokes"]))
        assert "packages/b/main.js:f -> packages/a/src/lib.ts:go 1.0" in edges


@pytest.mark.parametrize(
    "manifest",
    ['{"name": 1, "exports": {".": [1, {"x": null}]}}', "[1]", "{", '{"name": "x"}', "[" * 9999],
)
def test_broken_manifests_are_passed_over(manifest: str) -> None:
    """A manifest that is not what it should be costs only its own imports."""
    files = {
        "package.json": manifest,
        "tsconfig.json": json.dumps({"compilerOptions": {"paths": {"@/*": [1]}, "baseUrl": 3}}),
        "go.mod": manifest,
        "Cargo.toml": manifest,
        "a.js": "import x from 'x'; import {f} from './b'; f()",
        "b.js": "export function f() {}",
    }
    assert "a.js -> b.js:f 1.0" in written(list(graph(files).edges(["invokes"])))
