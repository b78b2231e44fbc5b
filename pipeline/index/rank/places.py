"""From what an issue names to files and units of a commit: paths, frames, dotted names, bases."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from pipeline.index.rank.arrays import CLASS, Arrays
from pipeline.index.rank.mentions import Frame, Mentions, Permalink

Floats = npt.NDArray[np.float64]

MAX_HITS = 40  # a name that so many places have says nothing about one of them
MAX_DEPTH = 6


def files_named(arrays: Arrays, path: str) -> tuple[tuple[int, ...], int]:
    """The files whose paths end like `path` for longest, and in how many components."""
    parts = [part for part in path.lower().split("/") if part not in {"", ".", ".."}]
    if not parts:
        return (), 0
    best: list[int] = []
    longest = 0
    for at in arrays.endings.get(parts[-1], ()):
        own = arrays.paths[at].lower().split("/")
        same = _same_end(own, parts)
        if same > longest:
            best, longest = [at], same
        elif same == longest:
            best.append(at)
    return tuple(best), longest


def _same_end(own: Sequence[str], parts: Sequence[str]) -> int:
    same = 0
    for one, two in zip(reversed(own), reversed(parts), strict=False):
        if one != two:
            break
        same += 1
    return same


def path_files(arrays: Arrays, found: Mentions) -> Floats:
    """Named paths: up to 1 by how much of the path is given, a link to a file 2."""
    value = np.zeros(len(arrays.paths))
    for path in found.paths:
        files, parts = files_named(arrays, path)
        for at in files:
            value[at] = max(value[at], min(parts, 3) / 3 / len(files))
    for link in found.permalinks:
        files, parts = files_named(arrays, link.path)
        for at in files if parts > 1 or len(files) == 1 else ():
            value[at] = 2.0
    return value


def linked_units(arrays: Arrays, links: Iterable[Permalink]) -> Floats:
    """The units at the lines that a link shows."""
    value = np.zeros(len(arrays.names))
    for link in links:
        files, _ = files_named(arrays, link.path) if link.start else ((), 0)
        if len(files) == 1:
            for unit in _units_at(arrays, files[0], link.start, link.end):
                value[unit] = 1.0
    return value


def _units_at(arrays: Arrays, file: int, start: int, end: int) -> list[int]:
    """Innermost units that overlap the lines; classes and the file only when no function does."""
    here = range(int(arrays.first[file]) + 1, int(arrays.first[file + 1]))
    over = [unit for unit in here if arrays.starts[unit] <= end and arrays.ends[unit] >= start]
    functions = [unit for unit in over if arrays.kinds[unit] != CLASS]
    return functions or over or [int(arrays.first[file])]


def frames(arrays: Arrays, found: Sequence[Frame]) -> tuple[Floats, Floats, Floats, Floats]:
    """Files and units of call sites, then files and units of the deepest ones.

    1/√(1 + distance from the deepest call that is in the repository), for each traceback.
    """
    file_value, unit_value = np.zeros(len(arrays.paths)), np.zeros(len(arrays.names))
    deep_file, deep_unit = file_value.copy(), unit_value.copy()
    for trace in {frame.trace for frame in found}:
        inside = [
            (file, frame)
            for frame in found
            if frame.trace == trace and (file := _frame_file(arrays, frame)) is not None
        ]
        for distance, (file, frame) in enumerate(reversed(inside)):
            value = 1 / np.sqrt(1 + distance)
            unit = _frame_unit(arrays, file, frame)
            file_value[file] = max(file_value[file], value)
            unit_value[unit] = max(unit_value[unit], value)
            if not distance:
                deep_file[file] = deep_unit[unit] = 1.0
    return file_value, unit_value, deep_file, deep_unit


def _frame_file(arrays: Arrays, frame: Frame) -> int | None:
    """One file, known by more than its own name unless the traceback gives no more."""
    files, parts = files_named(arrays, frame.path)
    given = len([part for part in frame.path.split("/") if part not in {"", ".", ".."}])
    return files[0] if len(files) == 1 and (parts > 1 or given == 1) else None


def _frame_unit(arrays: Arrays, file: int, frame: Frame) -> int:
    """By name; lines only choose between equals, because versions differ."""
    here = range(int(arrays.first[file]) + 1, int(arrays.first[file + 1]))
    name = frame.function.rpartition(".")[2]
    same = [unit for unit in here if arrays.tails[unit] == name] if name else []
    if same:
        return min(same, key=lambda unit: abs(int(arrays.starts[unit]) - frame.line))
    if name:
        return int(arrays.first[file])
    at = [unit for unit in here if arrays.starts[unit] <= frame.line <= arrays.ends[unit]]
    return at[-1] if at else int(arrays.first[file])


def defined(arrays: Arrays, identifiers: Mapping[str, float]) -> tuple[Floats, Floats]:
    """Files and units that define what is named: strength / (files that define it)^0.7."""
    file_value, unit_value = np.zeros(len(arrays.paths)), np.zeros(len(arrays.names))
    for name, strength in identifiers.items():
        units = arrays.defined.get(name, ())
        files = {int(arrays.file_of[unit]) for unit in units}
        share = strength / max(len(files), 1) ** 0.7
        for file in files:
            file_value[file] += share
        for unit in units:
            unit_value[unit] = max(unit_value[unit], share)
    return file_value, unit_value


def classes(arrays: Arrays, identifiers: Mapping[str, float]) -> tuple[Floats, Floats]:
    """For methods: the strength of their class, and named members of the classes above one.

    The second goes up the bases by name, at most five steps, each with 0.7 of the one before.
    """
    own, inherited = np.zeros(len(arrays.names)), np.zeros(len(arrays.names))
    for name, strength in identifiers.items():
        units = [unit for unit in arrays.defined.get(name, ()) if arrays.kinds[unit] == CLASS]
        if not units or len(units) > MAX_HITS:
            continue
        share = strength / np.sqrt(len({int(arrays.file_of[unit]) for unit in units}))
        for unit in units:
            members = _members(arrays, unit)
            own[members] = np.maximum(own[members], share)
            for above, factor in _above(arrays, unit):
                for member in _members(arrays, above):
                    named = identifiers.get(arrays.tails[member], 0.0)
                    inherited[member] = max(inherited[member], share * factor * named)
    return own, inherited


def _members(arrays: Arrays, unit: int) -> list[int]:
    """Units directly after a class that are named after it."""
    prefix, file = arrays.names[unit] + ".", arrays.file_of[unit]
    found = []
    for member in range(unit + 1, int(arrays.first[file + 1])):
        if not arrays.names[member].startswith(prefix):
            break
        found.append(member)
    return found


def _above(arrays: Arrays, unit: int) -> Iterator[tuple[int, float]]:
    """The class itself and its bases, nearest first, with what is left of the strength."""
    seen, level, factor = {unit}, [unit], 1.0
    for _ in range(MAX_DEPTH):
        for each in level:
            yield each, factor
        bases = {name for each in level for name in arrays.bases.get(each, ())}
        above = [unit for name in bases for unit in _classes_named(arrays, name)]
        level = [each for each in dict.fromkeys(above) if each not in seen]
        seen.update(level)
        factor *= 0.7


def _classes_named(arrays: Arrays, name: str) -> list[int]:
    units = [unit for unit in arrays.defined.get(name, ()) if arrays.kinds[unit] == CLASS]
    return units if len(units) <= 6 else []


def dotted(arrays: Arrays, names: Iterable[str]) -> Floats:
    """Units that dotted names lead to: through modules and what these import, else by their end."""
    value = np.zeros(len(arrays.names))
    for name in names:
        found = resolve(arrays, name)
        units = [found] if found is not None else _by_end(arrays, name)
        for unit in units if len(units) <= MAX_HITS else ():
            value[unit] = max(value[unit], 1 / len(units))
    return value


def resolve(arrays: Arrays, name: str, depth: int = 0) -> int | None:
    """The unit of a dotted name: longest module prefix, then definitions and re-exports."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        file = arrays.modules.get(".".join(parts[:cut]))
        if file is not None:
            return _inside(arrays, file, parts[cut:], depth)
    return None


def _inside(arrays: Arrays, file: int, rest: Sequence[str], depth: int) -> int | None:
    if not rest:
        return int(arrays.first[file])
    wanted = ".".join(rest)
    here = range(int(arrays.first[file]) + 1, int(arrays.first[file + 1]))
    top = None
    for unit in here:
        if arrays.names[unit] == wanted:
            return unit
        if arrays.names[unit] == rest[0]:
            top = unit
    if top is not None:
        return top
    for module, name, alias in arrays.imports[file] if depth < MAX_DEPTH else ():
        if name == "*" or rest[0] in {alias or name, name}:
            target = [_absolute(arrays, file, module), *([name] if name not in {"", "*"} else [])]
            following = rest if name == "*" else rest[1:]
            found = resolve(arrays, ".".join([*target, *following]), depth + 1)
            if found is not None and (name != "*" or arrays.names[found]):
                return found
    return None


def _absolute(arrays: Arrays, file: int, module: str) -> str:
    """A module as written in a file, with its leading dots resolved."""
    ups = len(module) - len(module.lstrip("."))
    if not ups:
        return module
    folder = arrays.paths[file].split("/")[:-1]
    kept = folder[: len(folder) - ups + 1]
    return ".".join([*kept, *filter(None, [module.lstrip(".")])])


def _by_end(arrays: Arrays, name: str) -> list[int]:
    """Units whose qualified name ends in the last two parts: `Class.method` of any module."""
    owner, _, own = name.rpartition(".")
    owner = owner.rpartition(".")[2]
    ending = f"{owner}.{own}"
    return [
        unit
        for unit in arrays.defined.get(own, ())
        if arrays.names[unit] == ending or arrays.names[unit].endswith("." + ending)
    ]
