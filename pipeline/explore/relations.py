"""Who else may have to change: callers, overrides and siblings of what the plans change.

From the code index, for the reviewer who looks for places that a plan forgot. Blocks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.index.errors import IndexingFailed
from pipeline.index.quoting import quoted
from pipeline.index.search import CodeSearch
from pipeline.index.search.values import NotFound
from pipeline.index.values import EdgeKind, Unit
from pipeline.prompts.blocks import data_block
from pipeline.values import Plan

SURE = 0.6  # ambiguous names would be mostly wrong
MAX_PLACES = 16
MAX_NAMED = 8
_BASES: tuple[EdgeKind, ...] = ("inherits",)


@dataclass(frozen=True, slots=True)
class Related:
    """What is around one changed unit, as ids; `changed_by` are the plans that change it."""

    unit: str
    changed_by: tuple[str, ...]
    callers: tuple[str, ...]
    overrides: tuple[str, ...]
    siblings: tuple[str, ...]


def related(code: CodeSearch, plans: Mapping[str, Plan]) -> tuple[Related, ...]:
    """The surroundings of each unit that some plan changes, at most 16, in the plans' order.

    Units that only exist in a plan are left out. Raises what the index raises.
    """
    changed: dict[str, list[str]] = {}
    units: dict[str, Unit] = {}
    for name, plan in plans.items():
        for change in plan.changes:
            unit = _unit(code, change.path, change.symbol)
            if unit is not None:
                units[unit.id] = unit
                changed.setdefault(unit.id, []).append(name)
    return tuple(
        _around(code, units[id_], tuple(dict.fromkeys(names)))
        for id_, names in list(changed.items())[:MAX_PLACES]
    )


def relations_text(code: CodeSearch | None, plans: Mapping[str, Plan]) -> str:
    """The surroundings as data for a prompt; says so where nothing is known."""
    try:
        found = related(code, plans) if code is not None else ()
    except IndexingFailed:
        found = ()
    lines = [line for each in found for line in _lines(each)]
    return data_block("relations", "\n".join(lines) or "(none known)")


def _unit(code: CodeSearch, path: str, symbol: str) -> Unit | None:
    if not symbol or code.index.file(path) is None:
        return None
    try:
        return code.unit(f"{path}:{symbol}")
    except NotFound:
        return None


def _around(code: CodeSearch, unit: Unit, changed_by: tuple[str, ...]) -> Related:
    callers = _sources(code, unit.id, "invokes")
    if unit.kind == "class":
        return Related(unit.id, changed_by, callers, _sources(code, unit.id, "inherits"), ())
    own = unit.name.rpartition(".")[2]
    overrides: list[str] = []
    siblings: list[str] = []
    if "." in unit.name and unit.parent:
        below = _sources(code, unit.parent, "inherits")
        overrides = [*_methods(code, below, own)]
        bases = _targets(code, unit.parent)
        siblings = [*_methods(code, bases, own)]
        beside = (each for base in bases for each in _sources(code, base, "inherits"))
        siblings += _methods(code, (each for each in beside if each != unit.parent), own)
    siblings += _namesakes(code, unit, own)
    known = {unit.id, *overrides}
    rest = tuple(dict.fromkeys(each for each in siblings if each not in known))
    return Related(unit.id, changed_by, callers, tuple(dict.fromkeys(overrides)), rest)


def _sources(code: CodeSearch, id_: str, kind: EdgeKind) -> tuple[str, ...]:
    """Units with an edge of the kind to this one, test code left out."""
    edges = code.neighbours(id_, [kind], "in").hits
    found = (edge.source for edge in edges if edge.confidence >= SURE and edge.source != id_)
    return tuple(dict.fromkeys(found))


def _targets(code: CodeSearch, id_: str) -> tuple[str, ...]:
    edges = code.neighbours(id_, _BASES, "out").hits
    return tuple(dict.fromkeys(edge.target for edge in edges if edge.confidence >= SURE))


def _methods(code: CodeSearch, classes: Iterable[str], own: str) -> Iterable[str]:
    """The method of that name in each class that defines it."""
    for class_ in classes:
        path, _, name = class_.partition(":")
        if code.index.file(path) is not None and name:
            wanted = f"{class_}.{own}"
            yield from (unit.id for unit in code.units(path) if unit.id == wanted)


def _namesakes(code: CodeSearch, unit: Unit, own: str) -> Iterable[str]:
    """Definitions of the same name in the same top folder; special names say nothing."""
    if own.startswith("__"):
        return
    top = unit.path.partition("/")[0]
    for hit in code.find_code_def(own).hits:
        if hit.match == "exact" and hit.path.partition("/")[0] == top:
            yield hit.id


def _lines(each: Related) -> list[str]:
    groups = (
        ("called by", each.callers),
        ("overridden or inherited by", each.overrides),
        ("same name or same base", each.siblings),
    )
    lines = [f"{quoted(each.unit)} (changed by {', '.join(each.changed_by)})"]
    return lines + [f"  {words}: {_listed(ids)}" for words, ids in groups if ids]


def _listed(ids: tuple[str, ...]) -> str:
    more = len(ids) - MAX_NAMED
    return ", ".join(map(quoted, ids[:MAX_NAMED])) + (f" and {more} more" if more > 0 else "")
