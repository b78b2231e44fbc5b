"""CodeSearch: everything that can be asked of one commit, with answers of bounded size."""

from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from pipeline.index.errors import NotIndexed
from pipeline.index.quoting import asked_name, quoted, unquoted
from pipeline.index.search import files
from pipeline.index.search.content import Lines, candidates, matching_lines, pattern_of, search
from pipeline.index.search.fuzzy import close_names
from pipeline.index.search.hits import Hits
from pipeline.index.search.names import Named, Names
from pipeline.index.search.patterns import identifier
from pipeline.index.search.shortlist import LIMIT, full_code
from pipeline.index.search.values import (
    Direction,
    Edges,
    FileHit,
    Found,
    Hit,
    Match,
    NotFound,
)
from pipeline.index.store import Index
from pipeline.index.values import Edge, EdgeKind, Unit

MAX_HITS = 10
MAX_CONTENT_HITS = 20
MAX_EDGES = 60
MAX_DEPTH = 8
KINDS: tuple[EdgeKind, ...] = ("contains", "imports", "invokes", "inherits")


class CodeSearch:
    """Searches of one opened commit. Blocks, so agents call it in threads; several may at once.

    Test code is left out unless asked for or named by its path. Without a graph, units have no
    children but those they contain, and no neighbours. Raises NotFound, and what Index raises.
    """

    def __init__(self, index: Index, graph: Edges | None = None) -> None:
        self.index = index
        self.graph = graph
        self._hits = Hits(index, graph)

    def prepare(self) -> None:
        """Read the table of names now, which the first search would do otherwise."""
        self._names.prepare()

    def find_file(
        self, file_name: str, dir_path: str | None = None, tests: bool = False
    ) -> Found[FileHit]:
        """Files by exact name, end of path or glob, each with a skeleton of at most 200 lines."""
        return files.find_files(self.index, file_name, dir_path or "", tests)

    def find_code_def(
        self, definition_name: str, file_path: str | None = None, tests: bool = False
    ) -> Found[Hit]:
        """The ten best definitions of a name: exact, else by regular expression, else alike.

        `file_path` is a file, a folder or a glob.
        """
        name, place = self._split(definition_name, file_path)
        match, found = self._names.find(name, self._accepts(place), MAX_HITS)
        shown = [pair for pair in found if tests or place or not pair[1].is_test]
        best = shown[:MAX_HITS]
        texts = dict(self.index.texts({named.path: None for _, named in best}))
        hits = [
            self._hits.with_calls(self._unit_of(named), texts[named.path], match, score)
            for score, named in best
        ]
        return Found(tuple(hits), len(shown) - len(best), len(found) - len(shown))

    def find_code_content(
        self,
        content: str,
        file_path: str | None = None,
        start_line: int = 0,
        end_line: int = 0,
        tests: bool = False,
    ) -> Found[Hit]:
        """Units that hold a variable, in any spelling of its words, or a piece of code.

        White space may differ. With the path of a file any file is searched, else those that a
        parser reads. The lines count for a single file only. `more` counts files that were not
        looked at, `hidden` test files that may hold it.
        """
        wanted = content.strip()
        file_path = file_path and self._known(file_path)
        if not wanted:
            raise NotFound("The content is empty; name a variable or a piece of code.")
        match: Match = "variable" if identifier(wanted) else "snippet"
        if file_path and self.index.file(file_path):
            text = self.index.text(file_path)
            lines = matching_lines(pattern_of(wanted), text, start_line, end_line)
            hits = [*self._hits.with_lines(Lines(file_path, lines), text, match)]
            return Found(tuple(hits[:MAX_CONTENT_HITS]), max(0, len(hits) - MAX_CONTENT_HITS))
        paths = candidates(self.index, wanted, self._accepts(file_path))
        shown = [path for path in paths if tests or file_path or not self._is_test(path)]
        hits, read = [], 0
        for path, text in search(self.index, shown):
            read += 1
            lines = matching_lines(pattern_of(wanted), text, 0, 0)
            hits += self._hits.with_lines(Lines(path, lines), text, match)
            if len(hits) >= MAX_CONTENT_HITS:
                break
        if not hits:
            self.index.require_whole()
        hidden = len(paths) - len(shown)
        return Found(tuple(hits[:MAX_CONTENT_HITS]), len(shown) - read, hidden)

    def find_child_unit(self, definition_name: str, file_path: str) -> Hit:
        """The definition of that name in that file, as the children of other units are named.

        With several of one name the first; `name#2` is the second.
        """
        path = self.file_path(file_path)
        inside = [unit for unit in self.units(path) if unit.kind in {"class", "function"}]
        given = self._known(definition_name.strip())
        wanted = given.removeprefix(f"{path}:").removesuffix("()")
        found = _named(inside, wanted) or _named(inside, unquoted(wanted))
        if found is not None:
            return self._hits.with_calls(found, self.index.text(path), "exact", 1.0)
        close = close_names(wanted, [unit.name for unit in inside])
        raise NotFound(
            f"{quoted(path)} defines no {asked_name(wanted)}.{_or(close)} "
            "Use find_code_def to look everywhere."
        )

    def finish_search(self, ids: Sequence[str], limit: int = LIMIT) -> tuple[Hit, ...]:
        """The end of a search: at most ten chosen units, their `preview` being the full code.

        What is too long for `limit` characters in all is cut, the longest units first.
        """
        chosen = [self.unit(id_) for id_ in dict.fromkeys(ids)][:MAX_HITS]
        texts = dict(self.index.texts({unit.path: None for unit in chosen}))
        codes = full_code(chosen, texts, limit)
        return tuple(
            self._hits.shaped(unit, "exact", 1.0, code)
            for unit, code in zip(chosen, codes, strict=True)
        )

    def neighbours(
        self,
        id: str,  # noqa: A002 - units are named by ids everywhere
        kinds: Collection[EdgeKind] = KINDS,
        direction: Direction = "both",
        depth: int = 1,
        tests: bool = False,
    ) -> Found[Edge]:
        """Relations around a file or unit, nearest first, at most 60 within at most 8 steps."""
        unit = self.unit(id)
        if self.graph is None:
            raise NotFound("This commit has no graph; use find_code_content with the name.")
        found = self.graph.neighbours(unit.id, kinds, direction, min(max(1, depth), MAX_DEPTH))
        shown = [edge for edge in found if tests or unit.is_test or not self._in_tests(edge)]
        more = max(0, len(shown) - MAX_EDGES)
        return Found(tuple(shown[:MAX_EDGES]), more, len(found) - len(shown))

    def outline(self, path: str) -> tuple[Unit, ...]:
        """The definitions of a file in source order; chunks when it was not parsed."""
        return self.units(self.file_path(path))[1:]

    def view(self, path: str) -> str:
        """The text of a file at this commit."""
        return self.index.text(self.file_path(path))

    def preview(self, id: str) -> Hit:  # noqa: A002 - as above
        """A unit with its children, head and the lines that invoke them."""
        unit = self.unit(id)
        return self._hits.with_calls(unit, self.index.text(unit.path), "exact", 1.0)

    def units(self, path: str) -> tuple[Unit, ...]:
        """The units of a file, itself first; the path must be exact."""
        return self._hits.units(path)

    def unit(self, id: str) -> Unit:  # noqa: A002 - as above
        """The file, class or function of an id, quoted or not; raises NotFound with what is like
        it."""
        wanted = self._known(id.strip().strip("`"))
        if self.index.file(wanted):
            return self.units(wanted)[0]
        path = self.index.path_of(wanted)
        name = wanted[len(path) + 1 :]
        if not name:
            return self.units(self.file_path(path))[0]
        known = {unit.id: unit for unit in self.units(self.file_path(path))}
        return known.get(wanted) or known[self.find_child_unit(name, path).id]

    def file_path(self, path: str) -> str:
        """The path of a file of this commit, quoted or not; raises NotFound with paths that end
        alike."""
        wanted = self._known(path.strip().removeprefix("./"))
        if self.index.file(wanted):
            return wanted
        name = wanted.rpartition("/")[2]
        rows = [row.path for row in self.index.files() if row.path.endswith(f"/{name}")]
        ends = [each for each in rows if each.endswith(f"/{wanted}")]
        if len(ends) == 1 and name:
            return ends[0]
        close = (ends or rows)[:5] if name else []
        raise NotFound(
            f"There is no file {asked_name(path)} in this commit.{_or(close)} "
            "Use find_file to look."
        )

    @cached_property
    def _names(self) -> Names:
        return Names(self.index)

    def _unit_of(self, named: Named) -> Unit:
        for unit in self.units(named.path):
            if unit.name == named.name and unit.start == named.start:
                return unit
        raise NotIndexed(f"{named.path} does not define {named.name} at line {named.start}.")

    def _split(self, name: str, file_path: str | None) -> tuple[str, str | None]:
        """A unit's id given as a name says its file as well."""
        name = self._known(name)
        file_path = file_path and self._known(file_path)
        path = self.index.path_of(name)
        rest = name[len(path) + 1 :]
        if not file_path and rest.strip(": ") and self.index.file(path):
            return rest, path
        return name, file_path

    def _known(self, name: str) -> str:
        """A path or id as it stands if it begins with a file's path, else unquoted if that does."""
        meant = unquoted(name)
        if meant == name or self.index.file(self.index.path_of(name)):
            return name
        return meant if self.index.file(self.index.path_of(meant)) else name

    def _accepts(self, place: str | None) -> Callable[[str], bool]:
        if not place:
            return lambda path: True
        fits = files.naming(place)
        return lambda path: files.below(path, place) or fits(path)

    def _is_test(self, path: str) -> bool:
        row = self.index.file(path)
        return row is not None and row.is_test

    def _in_tests(self, edge: Edge) -> bool:
        return any(self._is_test(self.index.path_of(id_)) for id_ in (edge.source, edge.target))


def _named(inside: Sequence[Unit], wanted: str) -> Unit | None:
    """The first definition of that id, else of that qualified name, else of that last part."""
    for named in (
        [unit for unit in inside if unit.id == f"{unit.path}:{wanted}"],
        [unit for unit in inside if unit.name == wanted],
        [unit for unit in inside if unit.name.rpartition(".")[2] == wanted],
    ):
        if named:
            return named[0]
    return None


def _or(close: Sequence[str]) -> str:
    return f" Perhaps {', '.join(map(quoted, close))}?" if close else ""
