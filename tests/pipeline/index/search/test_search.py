"""What the searches of one commit find, in a small repository of several languages."""

import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pytest

from pipeline.index.graph import build_graph
from pipeline.index.search import CodeSearch, NotFound
from pipeline.index.search.values import Direction
from pipeline.index.values import Edge, EdgeKind
from tests.indexed import indexed

QUERY = '''"""Queries."""


def get_order_by(query):
    return query.order_by


class Base:
    @property
    def limit(
        self,
    ):
        return self._limit


class Query(Base):
    """A query."""

    MAX_RESULTS = 21

    def filter(self, *args):
        if args is None:
            raise ValueError("no args")
        return self.clone(args)

    def clone(self, args):
        return Query(
            args,
        )
'''
FILES: dict[str, str | bytes | None] = {
    "shop/query.py": QUERY,
    "shop/sql/query.py": "class Query:\n    def filter(self):\n        pass\n",
    "shop/web.ts": "export class Page {\n  render() { return getOrderBy(this.query); }\n}\n",
    "shop/again.py": "def f():\n    return 1\n\n\ndef f():\n    return 2\n",
    "docs/[id] .txt": "",
    "docs/guide.txt": "Use get_order_by to sort.\nAnd get_order_by again.\n",
    "tests/test_query.py": "def test_filter():\n    assert get_order_by(1)\n",
    "tests/test_only.py": "def make_fixture():\n    return lonely_name\n",
    "big.py": "x = 1\n" * 10 + "".join(f"def g{n}():\n    return {n}\n\n" for n in range(300)),
}


class Listed:
    """Edges from a list, one step far."""

    def __init__(self, *edges: Edge) -> None:
        self._edges = edges

    def neighbours(
        self,
        unit: str,
        kinds: Collection[EdgeKind],
        direction: Direction,
        depth: int,
    ) -> Sequence[Edge]:
        """Those that begin or end at the unit."""
        return [
            edge
            for edge in self._edges
            if edge.kind in kinds
            and (
                (direction != "in" and edge.source == unit)
                or (direction != "out" and edge.target == unit)
            )
        ]


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CodeSearch]:
    """The repository's index with a graph of a few edges."""
    graph = Listed(
        Edge("shop/query.py:Query.filter", "shop/query.py:Query.clone", "invokes", 1.0, 24),
        Edge("shop/query.py:Query.filter", "shop/sql/query.py:Query", "invokes", 0.3, 23),
        Edge("tests/test_query.py:test_filter", "shop/query.py:Query.filter", "invokes", 0.6, 2),
    )
    with indexed(tmp_path_factory.mktemp("shop"), FILES) as index:
        yield CodeSearch(index, graph)


@pytest.mark.parametrize(
    ("name", "folder", "paths"),
    [
        ("query.py", None, ["shop/query.py", "shop/sql/query.py"]),
        ("query.py", "shop/sql", ["shop/sql/query.py"]),
        ("sql/query.py", None, ["shop/sql/query.py"]),
        ("ql/query.py", None, []),
        ("*.ts", None, ["shop/web.ts"]),
        ("sql/*.py", None, ["shop/sql/query.py"]),
        ("guide*", "docs/", ["docs/guide.txt"]),
        ("test_*.py", None, []),
        ("nope.py", None, []),
        ("[id] .txt", None, ["docs/[id] .txt"]),
        ("docs/[id] .txt", None, ["docs/[id] .txt"]),
        ("[id", None, []),
    ],
)
def test_files_are_found(code: CodeSearch, name: str, folder: str | None, paths: list[str]) -> None:
    """By name, by the end of the path and by glob; test files only when asked for."""
    assert [hit.path for hit in code.find_file(name, folder).hits] == paths


def test_test_files_are_counted_and_shown_when_asked(code: CodeSearch) -> None:
    """Hidden ones are no secret."""
    assert code.find_file("test_*.py").hidden == 2
    assert len(code.find_file("test_*.py", tests=True).hits) == 2


def test_a_skeleton_shows_heads_as_they_are_nested(code: CodeSearch) -> None:
    """Classes and functions with their lines; at most 200 lines, and what is missing is said."""
    (hit,) = code.find_file("shop/query.py").hits
    assert hit.skeleton.splitlines() == [
        "4–5\tdef get_order_by(query):",
        "8–13\tclass Base:",
        "  9–13\tdef limit( self, ):",
        "16–29\tclass Query(Base):",
        "  21–24\tdef filter(self, *args):",
        "  26–29\tdef clone(self, args):",
    ]
    (big,) = code.find_file("big.py").hits
    assert len(big.skeleton.splitlines()) == 200
    assert big.skeleton.endswith("(101 more definitions not shown)")


@pytest.mark.parametrize(
    ("name", "path", "match", "ids"),
    [
        ("get_order_by", None, "exact", ["shop/query.py:get_order_by"]),
        ("def get_order_by(query):", None, "exact", ["shop/query.py:get_order_by"]),
        ("Query.clone", None, "exact", ["shop/query.py:Query.clone"]),
        ("Query::clone()", None, "exact", ["shop/query.py:Query.clone"]),
        ("shop.sql.query.Query", None, "exact", ["shop/sql/query.py:Query"]),
        ("shop/sql/query.py:Query.filter", None, "exact", ["shop/sql/query.py:Query.filter"]),
        ("filter", "shop/sql", "exact", ["shop/sql/query.py:Query.filter"]),
        (
            "filter",
            "shop/*.py",
            "exact",
            ["shop/query.py:Query.filter", "shop/sql/query.py:Query.filter"],
        ),
        ("render", None, "exact", ["shop/web.ts:Page.render"]),
        ("f", None, "exact", ["shop/again.py:f", "shop/again.py:f#2"]),
        ("^get_.*_by$", None, "regex", ["shop/query.py:get_order_by"]),
        ("ORDER", None, "regex", ["shop/query.py:get_order_by"]),
        (r"Query\.cl", None, "regex", ["shop/query.py:Query.clone"]),
        ("getOrderBy", None, "fuzzy", ["shop/query.py:get_order_by"]),
        ("get_ordre_by", None, "fuzzy", ["shop/query.py:get_order_by"]),
        ("(a+)+$", None, "fuzzy", []),
        ("make_fixture", "tests", "exact", ["tests/test_only.py:make_fixture"]),
        ("make_fixture", None, "exact", []),
    ],
)
def test_definitions_are_found(
    code: CodeSearch, name: str, path: str | None, match: str, ids: list[str]
) -> None:
    """Exact before regular expression before alike, whatever people write around a name."""
    found = code.find_code_def(name, path)
    assert [hit.id for hit in found.hits] == ids
    assert {hit.match for hit in found.hits} <= {match}


def test_a_hit_shows_head_children_and_the_lines_that_invoke_them(code: CodeSearch) -> None:
    """The preview is no full code; children are contained and invoked units, the surest first."""
    (hit,) = code.find_code_def("filter", "shop/query.py").hits
    assert hit.children == ("shop/query.py:Query.clone", "shop/sql/query.py:Query")
    assert hit.preview.splitlines() == [
        "    21\t    def filter(self, *args):",
        "     …",
        '    23\t            raise ValueError("no args")',
        "    24\t        return self.clone(args)",
    ]
    limit = code.preview("shop/query.py:Base.limit")
    assert [line.split("\t")[1] for line in limit.preview.splitlines()] == [
        "    @property",
        "    def limit(",
        "        self,",
        "    ):",
    ]
    whole = code.preview("shop/query.py:Query")
    assert whole.children == ("shop/query.py:Query.filter", "shop/query.py:Query.clone")


def test_a_path_may_hold_a_colon(tmp_path: Path) -> None:
    """Ids that a search gives are understood by every other tool."""
    files = {"co:lon.py": "class K:\n    def m(self):\n        self.n()\n\n    def n(self): ...\n"}
    with indexed(tmp_path, files) as index:
        code = CodeSearch(index, build_graph(index))
        (hit,) = code.find_code_def("m").hits
        assert hit.id == "co:lon.py:K.m"
        assert code.preview(hit.id).children == ("co:lon.py:K.n",)
        assert [edge.target for edge in code.neighbours(hit.id, ("invokes",)).hits]
        assert code.find_code_def(hit.id).hits[0].id == hit.id


@pytest.mark.parametrize(
    ("content", "path", "ids"),
    [
        ("getOrderBy", None, ["shop/query.py:get_order_by", "shop/web.ts:Page.render"]),
        ("GET_ORDER_BY", "shop/web.ts", ["shop/web.ts:Page.render"]),
        ("order", None, []),  # a word of names is no name
        ("max_results", None, ["shop/query.py:Query"]),
        ("return  self.clone(args)", None, ["shop/query.py:Query.filter"]),
        ("if args is None:\n    raise ValueError(", None, ["shop/query.py:Query.filter"]),
        ("return query.order_by\n\n\nclass Base:", None, ["shop/query.py:get_order_by"]),
        ("get_order_by", "docs/guide.txt", ["docs/guide.txt"]),
        ("lonely_name", None, []),
        ("lonely_name", "tests", ["tests/test_only.py:make_fixture"]),
        ("==", None, []),
    ],
)
def test_content_is_found(code: CodeSearch, content: str, path: str | None, ids: list[str]) -> None:
    """Variables in any spelling, code in any white space, under the unit that holds them."""
    found = code.find_code_content(content, path)
    assert sorted(hit.id for hit in found.hits) == ids


def test_content_is_limited_to_lines(code: CodeSearch) -> None:
    """The range counts, and the matched lines are shown."""
    (hit,) = code.find_code_content("get_order_by", "docs/guide.txt", 2, 2).hits
    assert (hit.lines, hit.preview) == ((2,), "     2\tAnd get_order_by again.")
    assert code.find_code_content("get_order_by", "docs/guide.txt", 3).hits == ()


def test_hidden_tests_are_counted(code: CodeSearch) -> None:
    """A name that only tests hold is not passed over in silence."""
    assert code.find_code_content("lonely_name").hidden == 1
    assert code.find_code_def("make_fixture").hidden == 1


def test_a_child_is_found_by_exact_name_and_path(code: CodeSearch) -> None:
    """Qualified, bare, as an id or by number; a miss names what is like it."""
    for name in ("Query.clone", "clone", "shop/query.py:Query.clone", "clone()"):
        assert code.find_child_unit(name, "shop/query.py").id == "shop/query.py:Query.clone"
    assert code.find_child_unit("f#2", "shop/again.py").start == 5
    with pytest.raises(NotFound, match="Perhaps Query"):
        code.find_child_unit("clome", "shop/query.py")
    with pytest.raises(NotFound, match="Perhaps shop"):
        code.find_child_unit("clone", "lib/query.py")


def test_the_search_ends_with_full_code(code: CodeSearch) -> None:
    """Of at most ten units, each once."""
    ids = ["shop/query.py:Query.clone", "shop/again.py:f#2", "shop/query.py:Query.clone"]
    first, second = code.finish_search(ids)
    assert first.preview.splitlines()[0] == "    26\t    def clone(self, args):"
    assert len(first.preview.splitlines()) == 4
    assert second.preview == "     5\tdef f():\n     6\t    return 2"
    assert len(code.finish_search([f"big.py:g{n}" for n in range(20)])) == 10


def test_neighbours_leave_tests_out(code: CodeSearch) -> None:
    """Unless asked for; direction and kind are kept."""
    unit = "shop/query.py:Query.filter"
    found = code.neighbours(unit)
    assert ({edge.target for edge in found.hits}, found.hidden) == (
        {"shop/query.py:Query.clone", "shop/sql/query.py:Query"},
        1,
    )
    callers = code.neighbours(unit, direction="in", tests=True)
    assert [edge.source for edge in callers.hits] == ["tests/test_query.py:test_filter"]
    assert code.neighbours(unit, kinds=["inherits"]).hits == ()
    with pytest.raises(NotFound, match="no graph"):
        CodeSearch(code.index).neighbours(unit)


@pytest.mark.parametrize("id_", ["shop/query.py:", "nope.py:f", "shop/query.py:nope", "", "a\nb"])
def test_what_does_not_exist_is_said(code: CodeSearch, id_: str) -> None:
    """An id that is none gives a message, never another unit of another file."""
    if id_ == "shop/query.py:":
        assert code.unit(id_).id == "shop/query.py"
    else:
        with pytest.raises(NotFound, match=r"There is no file|defines no"):
            code.unit(id_)


@pytest.mark.parametrize("content", ["a_" * 50_000, "aB" * 50_000, "_" * 50_000, "a b " * 25_000])
def test_content_of_any_length_is_looked_for_quickly(tmp_path: Path, content: str) -> None:
    """What is longer than names are is code: a name's words were one phrase of 50,000 before."""
    with indexed(tmp_path, {"m.py": "a " * 400_000, "n.py": "a_" * 100_000}) as index:
        start = time.process_time()
        CodeSearch(index).find_code_content(content)
        assert time.process_time() - start < 1.0
