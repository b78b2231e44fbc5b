"""Reads a text of any language by its query. The single importer of tree-sitter.

A query's patterns are told apart by what they capture:
`@class`, `@function` a definition with `@name`, perhaps `@owner`, `@base`, `@body`, `@doc`;
`@scope` with `@name` something that only qualifies the names in it; `@import` with `@module`,
`@name`, `@alias` (or these as `#set!`); `@call` a callee, or a call whose callee ends with the
field that `#set! until` names (a pattern over both would stay open through a whole chain);
`@bind` a name that a parameter or a variable gets; `@export` an exported name; `@string` the
inside of a literal, unless `@skip` caught the same node. Of patterns that match one definition or
`@import` node the first in the query counts; `@base` is collected from all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from time import thread_time

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from pipeline.index.languages.bindings import OPEN, kept
from pipeline.index.languages.limits import watch
from pipeline.index.languages.marks import MODULE, Around, Mark
from pipeline.index.languages.naming import MAX_CALLEE, documentation, head, target
from pipeline.index.languages.spec import Found, Spec
from pipeline.index.languages.strings import MIN_LENGTH, pieces
from pipeline.index.values import Binding, Call, Definition, Import

_CHUNK = 1 << 16
_MAX_STATES = 1 << 11
_CATEGORIES = ("class", "function", "scope", "import", "call", "bind", "export", "string", "skip")
_MAX_COMMENTS = 30
_MAX_HEAD = 4_000

_Captured = Mapping[str, Sequence[Node]]
_Match = tuple[int, _Captured]


class TimeOut(Exception):
    """A file took longer to read than its deadline, or more memory than any file should."""


@dataclass(frozen=True, slots=True)
class _Grammar:
    """A language's grammar and its query, and for each pattern its category and settings."""

    language: Language
    query: Query
    categories: dict[int, str]
    settings: tuple[Mapping[str, str], ...]


def read(spec: Spec, text: str, deadline_s: float) -> Found:
    """What a text holds; the deadline is of processor time. Raises TimeOut."""
    end = thread_time() + deadline_s
    found = spec.own(text) if spec.own else None
    return found or _by_query(spec, text.encode("utf-8", "replace"), end)


def parses(spec: Spec, text: str, deadline_s: float) -> bool:
    """Whether a text is free of syntax errors. Raises TimeOut."""
    if spec.compiles:
        return spec.compiles(text)
    end = thread_time() + deadline_s
    return not _tree(_grammar(spec), text.encode("utf-8", "replace"), end).has_error


@cache
def _grammar(spec: Spec) -> _Grammar:
    language = Language(spec.grammar())
    query = Query(language, spec.query)
    settings = tuple(
        {key: value or "" for key, value in query.pattern_settings(index).items()}
        for index in range(query.pattern_count)
    )
    return _Grammar(language, query, {}, settings)


def _tree(grammar: _Grammar, data: bytes, end: float) -> Node:
    def chunk(offset: int, _point: object) -> bytes:
        return data[offset : offset + _CHUNK]

    with watch(end) as exceeded:
        try:
            return Parser(grammar.language).parse(chunk, progress_callback=exceeded).root_node
        except ValueError as error:
            raise TimeOut from error


def _by_query(spec: Spec, data: bytes, end: float) -> Found:
    grammar = _grammar(spec)
    root = _tree(grammar, data, end)
    # The cursor ignores its progress callback (tree-sitter 0.26): its states are bounded instead.
    found = _by_category(grammar, QueryCursor(grammar.query, match_limit=_MAX_STATES).matches(root))
    if thread_time() > end:
        raise TimeOut
    marks = _with_bases(spec, grammar, data, _marks(spec, grammar, data, found), found["scope"])
    calls = tuple(_calls(grammar, data, marks, found["call"]))
    return Found(
        tuple(mark.definition for mark in marks if mark.definition),
        tuple(dict.fromkeys(_imports(spec, grammar, data, found["import"]))),
        calls,
        tuple(dict.fromkeys(_text(data, c["export"][0]) for _, c in found["export"])),
        tuple(dict.fromkeys(_strings(data, found))),
        root.has_error,
        tuple(kept(_bindings(data, marks, found), calls)),
    )


def _by_category(grammar: _Grammar, matches: Sequence[_Match]) -> dict[str, list[_Match]]:
    found: dict[str, list[_Match]] = {category: [] for category in _CATEGORIES}
    categories = grammar.categories
    for match in matches:
        index, captured = match
        category = categories.get(index)
        if category is None:
            category = next(name for name in _CATEGORIES if name in captured)
            categories[index] = category
        found[category].append(match)
    return found


def _marks(
    spec: Spec, grammar: _Grammar, data: bytes, found: Mapping[str, Sequence[_Match]]
) -> list[Mark]:
    """Definitions and scopes in the order of the text, outer ones first, with qualified names."""
    matches = [match for category in ("class", "function", "scope") for match in found[category]]
    best: dict[tuple[int, int], tuple[str, dict[str, Sequence[Node]]]] = {}
    for index, captured in sorted(matches, key=_pattern):
        category = grammar.categories[index]
        node = captured[category][0]
        span = (node.start_byte, -node.end_byte)
        if span not in best:
            best[span] = (category, dict(captured))
        elif "base" in captured:
            # A pattern with a list in it matches once for each element.
            kept = best[span][1]
            kept["base"] = sorted((*kept.get("base", ()), *captured["base"]), key=_start)
    marks: list[Mark] = []
    around: list[Mark] = []
    for (start, negative_end), (category, captured) in sorted(best.items(), key=_span):
        while around and around[-1].end < -negative_end:
            around.pop()
        outer = around[-1] if around else MODULE
        name = _name(spec, data, captured)
        name = f"{outer.name}.{name}" if outer.name else name
        unit = None if category == "scope" else _definition(spec, data, category, name, captured)
        mark = Mark(start, -negative_end, name, name if unit else outer.owner, unit)
        around.append(mark)
        marks.append(mark)
    return marks


def _with_bases(
    spec: Spec,
    grammar: _Grammar,
    data: bytes,
    marks: Sequence[Mark],
    scopes: Sequence[_Match],
) -> list[Mark]:
    """The marks with what scopes say of the bases of a definition that has their name."""
    names = {(mark.start, mark.end): mark.name for mark in marks if not mark.definition}
    bases: dict[str, list[str]] = {}
    for _, captured in sorted(scopes, key=_scope_start):
        node = captured["scope"][0]
        name = names.get((node.start_byte, node.end_byte), "")
        bases.setdefault(name, []).extend(target(_text(data, b)) for b in captured.get("base", ()))
    return [_based(mark, bases.get(mark.name, ())) for mark in marks]


def _scope_start(match: _Match) -> int:
    return match[1]["scope"][0].start_byte


def _based(mark: Mark, more: Sequence[str]) -> Mark:
    unit = mark.definition
    if unit is None or unit.kind != "class" or not more:
        return mark
    return replace(mark, definition=replace(unit, bases=tuple(dict.fromkeys((*unit.bases, *more)))))


def _pattern(match: _Match) -> int:
    return match[0]


def _start(node: Node) -> int:
    return node.start_byte


def _span(item: tuple[tuple[int, int], object]) -> tuple[int, int]:
    return item[0]


def _name(spec: Spec, data: bytes, captured: _Captured) -> str:
    parts = [_text(data, node) for key in ("owner", "name") for node in captured.get(key, ())]
    return spec.rename(".".join(target(part) for part in parts if part)) or "default"


def _definition(
    spec: Spec, data: bytes, category: str, name: str, captured: _Captured
) -> Definition:
    node, body = captured[category][0], captured.get("body")
    row, column = node.end_point
    start, comments = _above(spec, data, _wrapped(spec, node))
    inside = captured.get("doc")
    end = max(start, row + (column > 0))
    return Definition(
        name=name,
        kind="class" if category == "class" else "function",
        start=start,
        end=end,
        signature=head(_head(data, node, body[0] if body else None)),
        doc=documentation(_text(data, inside[0]) if inside else comments),
        bases=tuple(dict.fromkeys(target(_text(data, b)) for b in captured.get("base", ()))),
    )


def _head(data: bytes, node: Node, body: Node | None) -> str:
    end = min(body.start_byte if body else node.end_byte, node.start_byte + _MAX_HEAD)
    text = data[node.start_byte : end].decode("utf-8", "replace")
    return text if body else text.split("\n", 1)[0]


def _wrapped(spec: Spec, node: Node) -> Node:
    """The outermost node that is there for this definition alone, or begins with it."""
    parent = node.parent
    while parent is not None and parent.type in spec.wrappers:
        before = node.prev_named_sibling
        if not (before is None or before.type in spec.attributes or "comment" in before.type):
            break
        node, parent = parent, parent.parent
    return node


def _above(spec: Spec, data: bytes, node: Node) -> tuple[int, str]:
    """The first line of a definition with its attributes, and the comments right above it."""
    start = first = node.start_point[0]
    comments: list[str] = []
    sibling = node.prev_sibling
    while sibling is None and node.parent and node.parent.start_byte == node.start_byte:
        # The first thing in a body: its comment stands before the body.
        node = node.parent
        sibling = node.prev_sibling
    for _ in range(_MAX_COMMENTS):
        if sibling is None:
            break
        row, column = sibling.end_point
        is_attribute = sibling.type in spec.attributes
        # Some grammars end a line comment behind its line feed.
        adjacent = row - (column == 0) >= first - 1
        if not adjacent or not (is_attribute or "comment" in sibling.type):
            break
        if _trails(data, sibling):
            break
        first = sibling.start_point[0]
        if is_attribute:
            start = first
        else:
            comments.append(_text(data, sibling))
        sibling = sibling.prev_sibling
    return start + 1, "\n".join(reversed(comments))


def _trails(data: bytes, node: Node) -> bool:
    """Whether something else stands before a node on its line."""
    begin = data.rfind(b"\n", 0, node.start_byte) + 1
    return bool(data[begin : node.start_byte].strip())


def _imports(
    spec: Spec, grammar: _Grammar, data: bytes, matches: Sequence[_Match]
) -> Iterator[Import]:
    first: dict[tuple[int, int], int] = {}
    for index, captured in matches:
        node = captured["import"][0]
        span = (node.start_byte, node.end_byte)
        first[span] = min(index, first.get(span, index))
    for index, captured in sorted(matches, key=_import_start):
        node = captured["import"][0]
        if index == first[(node.start_byte, node.end_byte)]:
            texts = dict(grammar.settings[index])
            for key, nodes in captured.items():
                texts[key] = _text(data, nodes[0])
            yield from spec.imports(texts, node.start_point[0] + 1)


def _import_start(match: _Match) -> int:
    return match[1]["import"][0].start_byte


def _calls(
    grammar: _Grammar, data: bytes, marks: Sequence[Mark], matches: Sequence[_Match]
) -> Iterator[Call]:
    around = Around(marks)
    for begin, end, line in sorted(_callees(grammar, matches)):
        owner = around.owner(begin)
        # Of an endless chain only the end: every call of it begins at the same byte.
        text = data[max(begin, end - MAX_CALLEE - 1) : end].decode("utf-8", "replace")
        called = target(text)
        # A function that is called where it is written has no name to look for.
        if called and called != "()" and "{" not in called:
            yield Call(owner, called, line)


def _bindings(
    data: bytes, marks: Sequence[Mark], found: Mapping[str, Sequence[_Match]]
) -> Iterator[Binding]:
    """Names of parameters and variables inside definitions; one that is imported is none."""
    imported = set(_imported(data, marks, found["import"]))
    around = Around(marks)
    nodes = [node for _, captured in found["bind"] for node in captured["bind"]]
    for node in sorted(nodes, key=_start):
        # A variable that holds a function begins where the function does, and stands around it.
        owner, name = around.owner(node.start_byte - 1), _text(data, node)
        if owner and (owner, name) not in imported:
            yield Binding(owner, name, OPEN)


def _imported(
    data: bytes, marks: Sequence[Mark], matches: Sequence[_Match]
) -> Iterator[tuple[str, str]]:
    """Definitions with the names that are imported in them."""
    around = Around(marks)
    for _, captured in sorted(matches, key=_import_start):
        owner = around.owner(captured["import"][0].start_byte)
        for node in (*captured.get("alias", ()), *captured.get("name", ())):
            yield owner, _text(data, node)


def _callees(grammar: _Grammar, matches: Sequence[_Match]) -> Iterator[tuple[int, int, int]]:
    for index, captured in matches:
        node = last = captured["call"][0]
        until = grammar.settings[index].get("until")
        if until:
            last = node.child_by_field_name(until) or node
        yield node.start_byte, last.end_byte, last.end_point[0] + 1


def _strings(data: bytes, found: Mapping[str, Sequence[_Match]]) -> Iterator[str]:
    skipped = {captured["skip"][0].start_byte for _, captured in found["skip"]}
    for _, captured in found["string"]:
        node = captured["string"][0]
        if node.end_byte - node.start_byte >= MIN_LENGTH and node.start_byte not in skipped:
            yield from pieces(_text(data, node))


def _text(data: bytes, node: Node) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")
