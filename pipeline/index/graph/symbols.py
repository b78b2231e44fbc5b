"""The units of a commit as numbers, and the names each file defines and imports."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pipeline.index.languages.layout import Rules
from pipeline.index.store.units import units_of
from pipeline.index.values import Definition, Import, ParsedFile, Unit

Source = tuple[str, bool, ParsedFile]
Given = tuple[str, str]  # where a value was given, and the callee that gave it


@dataclass(slots=True)
class Module:
    """One parsed file. `names` gives the numbers of its units by qualified name; `aliases` what
    it imports by local name, `stars` the modules it takes all names of; `bound` the callees whose
    results a name got, by (owner, name), `held` the methods and callees that gave `self.name` its
    values, by (class, name): see Binding. `spaces` are the names that only qualify others."""

    path: str
    rules: Rules
    is_test: bool
    number: int
    parsed: ParsedFile
    names: dict[str, list[int]] = field(default_factory=dict)
    aliases: dict[str, list[Import]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    bound: dict[tuple[str, str], list[Given]] = field(default_factory=dict)
    held: dict[tuple[str, str], list[Given]] = field(default_factory=dict)
    spaces: set[str] = field(default_factory=set)
    dotted: bool = False


@dataclass(slots=True)
class Symbols:
    """All units: columns by number. `owners` is the module of a unit, None where there is none;
    `definitions` what stands in the file. `folded` is the unit that edges use instead. `parts` are
    members that stand in another file than their class, by family and qualified name."""

    ids: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    tests: list[bool] = field(default_factory=list)
    folded: list[int] = field(default_factory=list)
    owners: list[Module | None] = field(default_factory=list)
    definitions: list[Definition | None] = field(default_factory=list)
    members: list[bool] = field(default_factory=list)
    modules: dict[str, Module] = field(default_factory=dict)
    parts: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def is_class(self, number: int) -> bool:
        """Whether a unit is a class."""
        return self.kinds[number] == "class"


def symbols_of(sources: Iterable[Source], paths: Iterable[str], rules: dict[str, Rules]) -> Symbols:
    """Number the folders, files and definitions of a commit."""
    found = Symbols()
    folders: dict[str, int] = {}
    parsed = {path: (is_test, file) for path, is_test, file in sources}
    for path in sorted({*paths, *parsed}):
        is_test, file = parsed.get(path, (False, ParsedFile("", 0)))
        units = units_of(path, is_test, file)
        numbers = {"": _folder(found, folders, path.rpartition("/")[0])}
        module = None
        if file.language in rules:
            module = Module(path, rules[file.language], is_test, len(found.ids), file)
            found.modules[path] = module
        for unit in units:
            parent = numbers.get(unit.parent if unit.id != path else "", -1)
            numbers[unit.id] = _add(found, unit, parent, module)
        if module is not None:
            _name(found, module, [numbers[unit.id] for unit in units[1:]])
    return found


def _folder(found: Symbols, folders: dict[str, int], path: str) -> int:
    """The number of a folder, given to it and to those around it when they are new."""
    if not path:
        return -1
    if path not in folders:
        folder, _, name = path.rpartition("/")
        parent = _folder(found, folders, folder)
        unit = Unit(path, "directory", path, name, 0, 0, "", "", folder, False)
        folders[path] = _add(found, unit, parent, None)
    return folders[path]


def _add(found: Symbols, unit: Unit, parent: int, module: Module | None) -> int:
    number = len(found.ids)
    found.ids.append(unit.id)
    found.names.append(unit.name)
    found.kinds.append(unit.kind)
    found.parents.append(parent)
    found.tests.append(unit.is_test)
    found.folded.append(number)
    found.owners.append(module)
    found.definitions.append(None)
    found.members.append(False)
    return number


def _name(found: Symbols, module: Module, numbers: Sequence[int]) -> None:
    for number, definition in zip(numbers, module.parsed.definitions, strict=False):
        module.names.setdefault(definition.name, []).append(number)
        found.definitions[number] = definition
    for number, definition in zip(numbers, module.parsed.definitions, strict=False):
        _place(found, module, number, definition)
    module.spaces |= {part for name in module.names for part in _around(name)} - {*module.names}
    for item in module.parsed.imports:
        if item.name == "*":
            module.stars.append(item.module)
        elif item.alias:
            module.aliases.setdefault(item.alias, []).append(item)
            module.dotted |= "." in item.alias
    for binding in module.parsed.bindings:
        owner, name, given = binding.owner, binding.name, (binding.owner, binding.value)
        if name.startswith("self."):
            held = (owner.rpartition(".")[0], name.removeprefix("self."))
            module.held.setdefault(held, []).append(given)
        else:
            module.bound.setdefault((owner, name), []).append(given)


def _around(name: str) -> Iterator[str]:
    """All that a qualified name is in: of `a.b.c` these are `a.b` and `a`."""
    while name := name.rpartition(".")[0]:
        yield name


def _place(found: Symbols, module: Module, number: int, definition: Definition) -> None:
    """Tell members from what functions hold, and constructors from other members."""
    owner, _, last = definition.name.rpartition(".")
    holders = module.names.get(owner, ())
    if not owner or (holders and found.kinds[holders[-1]] == "function"):
        return
    found.members[number] = True
    if not holders:
        found.parts.setdefault((module.rules.family, definition.name), []).append(number)
    stands_for = last in module.rules.constructors or last == owner.rpartition(".")[2]
    parent = found.parents[number]
    if stands_for and definition.kind == "function" and found.is_class(parent):
        found.folded[number] = parent
