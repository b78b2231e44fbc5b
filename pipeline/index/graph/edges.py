"""The edges of one commit as columns of numbers, from its symbols and what names mean."""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pipeline.index.graph.lookup import Lookup
from pipeline.index.graph.meanings import OUTSIDE, Files, Meaning, Things
from pipeline.index.graph.symbols import Module, Symbols
from pipeline.index.values import EdgeKind

KINDS: tuple[EdgeKind, ...] = ("contains", "imports", "invokes", "inherits")
CONTAINS, IMPORTS, INVOKES, INHERITS = range(4)
EXACT, UNIQUE, AMBIGUOUS = 100, 60, 30  # confidence in hundredths

_Group = tuple[str, str, bool, bool, bool]


@dataclass(slots=True)
class Columns:
    """Edges between two units, and references: edges to every unit of a group of one name.

    References are not written out: a hundred `get` called in five thousand places would be half a
    million edges, which nobody asks for at once.
    """

    sources: "array[int]" = field(default_factory=lambda: array("i"))
    targets: "array[int]" = field(default_factory=lambda: array("i"))
    kinds: "array[int]" = field(default_factory=lambda: array("b"))
    confidences: "array[int]" = field(default_factory=lambda: array("b"))
    lines: "array[int]" = field(default_factory=lambda: array("i"))
    aliases: "array[int]" = field(default_factory=lambda: array("i"))
    texts: dict[str, int] = field(default_factory=lambda: {"": 0})
    groups: list[tuple[int, ...]] = field(default_factory=list)

    def add(
        self, source: int, target: int, kind: int, confidence: int, line: int = 0, alias: str = ""
    ) -> None:
        """One edge; a target below zero is the group -1 - target."""
        self.sources.append(source)
        self.targets.append(target)
        self.kinds.append(kind)
        self.confidences.append(confidence)
        self.lines.append(line)
        self.aliases.append(self.texts.setdefault(alias, len(self.texts)))


class Edges:
    """Fills the columns, module by module."""

    def __init__(self, symbols: Symbols, lookup: Lookup) -> None:
        self.columns = Columns()
        self._symbols = symbols
        self._lookup = lookup
        self._named = _by_name(symbols)
        self._groups: dict[_Group, tuple[int, ...]] = {}
        self._numbers: dict[tuple[int, ...], int] = {}
        self._children = _children(symbols, lookup)
        self._below: dict[int, tuple[int, ...]] = {}

    def contain(self) -> None:
        """Parents to children."""
        for number, parent in enumerate(self._symbols.parents):
            if parent >= 0:
                self.columns.add(parent, number, CONTAINS, EXACT)

    def of(self, module: Module) -> None:
        """What a module imports, inherits and invokes."""
        self._imports(module)
        self._inherits(module)
        self._invokes(module)

    def _imports(self, module: Module) -> None:
        for item in dict.fromkeys(module.parsed.imports):
            if item.module:
                for target in self._targets(self._lookup.imported(module, item), fold=False):
                    if target != module.number:
                        self.columns.add(
                            module.number, target, IMPORTS, EXACT, item.line, item.alias
                        )

    def _targets(self, meaning: Meaning, fold: bool) -> Iterator[int]:
        if isinstance(meaning, Files):
            yield from (self._symbols.modules[path].number for path in meaning.paths)
        elif isinstance(meaning, Things):
            folded = self._symbols.folded
            yield from dict.fromkeys(folded[n] if fold else n for n in meaning.numbers)

    def _inherits(self, module: Module) -> None:
        for numbers in module.names.values():
            for number in filter(self._symbols.is_class, numbers):
                definition = self._symbols.definitions[number]
                for base in definition.bases if definition else ():
                    self._inherit(module, number, base)

    def _inherit(self, module: Module, number: int, written: str) -> None:
        owner = self._symbols.names[number].rpartition(".")[0]
        written = written.rstrip("[]()")
        found = self._lookup.meaning(module, owner, written)
        if isinstance(found, Things):
            self._add_all(number, found.numbers, INHERITS, EXACT, 0)
        elif found is None:
            last = written.rpartition(".")[2]
            self._guess(module, number, last, INHERITS, 0, is_attribute=False, classes=True)

    def _invokes(self, module: Module) -> None:
        folded = self._symbols.folded
        known: dict[tuple[str, str], Meaning] = {}
        for call in dict.fromkeys(module.parsed.calls):
            source = folded[module.names.get(call.owner, [module.number])[-1]]
            key = (call.owner, call.target)
            if key not in known:
                known[key] = self._callee(module, call.owner, call.target)
            found = known[key]
            if isinstance(found, Things):
                self._add_all(source, found.numbers, INVOKES, EXACT, call.line)
                self._overridden(module, source, call.target, found.numbers, call.line)
            elif found is None:
                self._unknown(module, source, call.owner, call.target, call.line)

    def _callee(self, module: Module, owner: str, target: str) -> Meaning:
        """A module that is called is its default export; a `super` that is called, the base."""
        found = self._lookup.meaning(module, owner, target)
        if isinstance(found, Files) and found.paths:
            return self._lookup.attribute(found, "default") or OUTSIDE
        if isinstance(found, Things) and found.is_instance:
            return self._called(found, target in module.rules.own)
        return found if isinstance(found, Files | Things) else self._super(module, owner, target)

    def _called(self, found: Things, is_class: bool) -> Meaning:
        """`cls()` makes one; an instance that is called has a method for that."""
        if is_class:
            return Things(found.numbers)
        return self._lookup.attribute(found, "__call__") or OUTSIDE

    def _super(self, module: Module, owner: str, target: str) -> Meaning:
        if target not in module.rules.above:
            return None
        above = self._lookup.meaning(module, owner, target)
        number = getattr(above, "number", None)
        bases = self._lookup.bases(number) if number is not None else ()
        return next((base for base in bases if isinstance(base, Things)), OUTSIDE)

    def _overridden(
        self, module: Module, source: int, target: str, numbers: tuple[int, ...], line: int
    ) -> None:
        """A method called on an object may be any override of it below; `super` says which."""
        segments = target.split(".")
        above = module.rules.above.intersection(segments)
        if len(segments) == 1 or above or len(numbers) != 1:
            return
        number = numbers[0]
        if self._symbols.members[number] and not self._symbols.is_class(number):
            self._refer(source, self._overrides(number), INVOKES, line)

    def _overrides(self, number: int) -> tuple[int, ...]:
        """Members of the same name in all classes below the one that holds this one."""
        if number not in self._below:
            name = self._symbols.names[number].rpartition(".")[2]
            holder = self._symbols.parents[number]
            seen, waiting = {holder}, list(self._children.get(holder, ()))
            found: list[int] = []
            while waiting:
                child = waiting.pop(0)
                if child not in seen:
                    seen.add(child)
                    waiting += self._children.get(child, ())
                    member = self._lookup.member(child, name)
                    found += member.numbers if isinstance(member, Things) else ()
            folded = self._symbols.folded
            kept = dict.fromkeys(folded[n] for n in found if folded[n] != folded[number])
            self._below[number] = tuple(kept)
        return self._below[number]

    def _unknown(self, module: Module, source: int, owner: str, target: str, line: int) -> None:
        before, _, last = target.rpartition(".")
        if not last.isidentifier():
            return
        if not before and self._lookup.is_local(module, owner, last):
            return
        self._guess(module, source, last, INVOKES, line, is_attribute=bool(before))

    def _guess(
        self,
        module: Module,
        source: int,
        name: str,
        kind: int,
        line: int,
        *,
        is_attribute: bool,
        classes: bool = False,
    ) -> None:
        """By name alone: 0.6 when one unit has it, else 0.3 to each. Code does not use tests."""
        rules = module.rules
        key = (rules.family, name, is_attribute, classes, module.is_test)
        if key not in self._groups:
            self._groups[key] = tuple(self._candidates(*key))
        found = self._groups[key]
        is_common = is_attribute and name in rules.common
        if len(found) == 1:
            self.columns.add(source, found[0], kind, AMBIGUOUS if is_common else UNIQUE, line)
        else:
            self._refer(source, found, kind, line)

    def _refer(self, source: int, found: tuple[int, ...], kind: int, line: int) -> None:
        """One row for all of a group, 0.3 each."""
        if found:
            number = self._numbers.setdefault(found, len(self._numbers))
            if number == len(self.columns.groups):
                self.columns.groups.append(found)
            self.columns.add(source, -1 - number, kind, AMBIGUOUS, line)

    def _candidates(
        self, family: str, name: str, is_attribute: bool, classes: bool, with_tests: bool
    ) -> Iterable[int]:
        symbols = self._symbols
        found = self._named.get((family, name), ())
        if not with_tests:
            found = [number for number in found if not symbols.tests[number]]
        if classes:
            found = [number for number in found if symbols.is_class(number)]
        members = [number for number in found if symbols.members[number]]
        others = [number for number in found if not symbols.members[number]]
        chosen = members or others if is_attribute else others or members
        return dict.fromkeys(symbols.folded[number] for number in chosen)

    def _add_all(
        self, source: int, numbers: Iterable[int], kind: int, confidence: int, line: int
    ) -> None:
        """Several definitions of one name in one scope are as ambiguous as any."""
        targets = dict.fromkeys(self._symbols.folded[number] for number in numbers)
        for target in targets:
            if target != source or kind == INVOKES:
                sure = confidence if len(targets) == 1 else AMBIGUOUS
                self.columns.add(source, target, kind, sure, line)


def _children(symbols: Symbols, lookup: Lookup) -> dict[int, list[int]]:
    """Classes by each of their bases."""
    found: dict[int, list[int]] = {}
    for number in filter(symbols.is_class, range(len(symbols.ids))):
        for base in lookup.bases(number):
            for above in base.numbers if isinstance(base, Things) else ():
                found.setdefault(above, []).append(number)
    return found


def _by_name(symbols: Symbols) -> dict[tuple[str, str], list[int]]:
    """Definitions by family of languages and last name; where the last of one name counts, it."""
    found: dict[tuple[str, str], list[int]] = {}
    for module in symbols.modules.values():
        rules = module.rules
        for name, numbers in module.names.items():
            kept = numbers[-1:] if rules.last_counts else numbers
            found.setdefault((rules.family, name.rpartition(".")[2]), []).extend(kept)
    return found
