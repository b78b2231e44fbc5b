"""The graph of an indexed commit: from the store when it was built before."""

from array import array
from collections.abc import Callable, Iterable, Iterator

from pipeline.index.graph.edges import Columns, Edges
from pipeline.index.graph.graph import Graph
from pipeline.index.graph.lookup import Lookup
from pipeline.index.graph.packing import load, pack, version
from pipeline.index.graph.symbols import Source, Symbols, symbols_of
from pipeline.index.languages.layout import layout_of, rules
from pipeline.index.store import Index

MANIFESTS = frozenset({"package.json", "tsconfig.json", "go.mod", "Cargo.toml"})
MAX_MANIFEST = 1_000_000  # bytes
MAX_MANIFESTS = 2_000

Progress = Callable[[int, int], None]


def build_graph(index: Index, progress: Progress | None = None) -> Graph:
    """The graph of the index's commit; made once, then read from its store.

    `progress` is told (done, total) files, and may raise to stop. Raises StoreUnusable, and what
    reading manifests from git raises.
    """
    kept = index.kept(version(), index.commit)
    graph = load(kept) if kept is not None else None
    if graph is None:
        paths = [row.path for row in index.files()]
        graph = graph_of(_sources(index, progress), paths, _manifests(index), progress)
        index.keep(version(), {index.commit: pack(graph)})
    return graph


def _sources(index: Index, progress: Progress | None) -> Iterator[Source]:
    """All parsed files; reading them is told as nothing done yet."""
    total = sum(1 for row in index.files() if row.language)
    for row, parsed in index.all_parsed():
        if progress is not None:
            progress(0, total)
        yield row.path, row.is_test, parsed


def _manifests(index: Index) -> Callable[[str], str]:
    """Reads manifests, all at once when the first is asked for; "" for what is no manifest."""
    known: dict[str, str] = {}

    def text(path: str) -> str:
        if not known:
            wanted = [
                row.path
                for row in index.files()
                if row.path.rpartition("/")[2] in MANIFESTS and row.size <= MAX_MANIFEST
            ]
            known.update(index.texts(wanted[:MAX_MANIFESTS]))
        return known.get(path, "")

    return text


def graph_of(
    sources: Iterable[Source],
    paths: Iterable[str] = (),
    text: Callable[[str], str] = str,
    progress: Progress | None = None,
) -> Graph:
    """The graph of parsed files given as (path, is_test, parsed), among all paths of a commit.

    `text` reads manifests. Pure otherwise; never raises for what the files hold, only what
    `progress` raises.
    """
    everything = list(sources)
    paths = {*paths, *(path for path, _, _ in everything)}
    known = rules()
    symbols = symbols_of(everything, paths, known)
    edges = Edges(symbols, Lookup(symbols, layout_of(paths, text), known))
    edges.contain()
    for done, module in enumerate(symbols.modules.values(), 1):
        edges.of(module)
        if progress is not None:
            progress(done, len(symbols.modules))
    return _graph(symbols, edges.columns)


def _graph(symbols: Symbols, columns: Columns) -> Graph:
    order = sorted(range(len(columns.sources)), key=columns.sources.__getitem__)
    targets = array("i", (columns.targets[row] for row in order))
    starts, members = array("i", [0]), array("i")
    pairs: list[tuple[int, int]] = []
    for group, units in enumerate(columns.groups):
        members.extend(units)
        starts.append(len(members))
        pairs.extend((unit, group) for unit in units)
    pairs.sort()
    return Graph(
        ids=symbols.ids,
        tests=bytes(symbols.tests),
        sources=array("i", (columns.sources[row] for row in order)),
        targets=targets,
        kinds=array("b", (columns.kinds[row] for row in order)),
        confidences=array("b", (columns.confidences[row] for row in order)),
        lines=array("i", (columns.lines[row] for row in order)),
        aliases=array("i", (columns.aliases[row] for row in order)),
        texts=list(columns.texts),
        by_target=array("i", sorted(range(len(targets)), key=targets.__getitem__)),
        group_starts=starts,
        group_members=members,
        group_units=array("i", (unit for unit, _ in pairs)),
        group_numbers=array("i", (group for _, group in pairs)),
    )
