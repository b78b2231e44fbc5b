"""The units of one file, with the ids that everything else knows them by."""

from collections import Counter
from collections.abc import Iterator

from pipeline.index.store.words import CHUNK_LINES
from pipeline.index.values import ParsedFile, Unit


def units_of(path: str, is_test: bool, parsed: ParsedFile) -> tuple[Unit, ...]:
    """The file, then its definitions in source order; chunks of 60 lines when it was not parsed."""
    folder, _, name = path.rpartition("/")
    whole = Unit(path, "file", path, name, 1, parsed.lines, "", "", folder, is_test)
    inside = _chunks(whole) if parsed.degraded else _definitions(whole, parsed)
    return (whole, *inside)


def _definitions(file: Unit, parsed: ParsedFile) -> Iterator[Unit]:
    """A second definition of one name is `#2`; what stands inside it belongs to it."""
    seen: Counter[str] = Counter()
    open_units: list[Unit] = []  # the enclosing ones, outermost first
    for item in parsed.definitions:
        while open_units and not _holds(open_units[-1], item.name, item.end):
            open_units.pop()
        seen[item.name] += 1
        number = f"#{seen[item.name]}" if seen[item.name] > 1 else ""
        unit = Unit(
            id=f"{file.id}:{item.name}{number}",
            kind=item.kind,
            path=file.path,
            name=item.name,
            start=item.start,
            end=item.end,
            signature=item.signature,
            doc=item.doc,
            parent=open_units[-1].id if open_units else file.id,
            is_test=file.is_test,
        )
        open_units.append(unit)
        yield unit


def _holds(outer: Unit, name: str, end: int) -> bool:
    return name.startswith(f"{outer.name}.") and end <= outer.end


def _chunks(file: Unit) -> Iterator[Unit]:
    for start in range(1, file.end + 1, CHUNK_LINES):
        end = min(start + CHUNK_LINES - 1, file.end)
        id_ = f"{file.path}:@{start}-{end}"
        yield Unit(id_, "chunk", file.path, "", start, end, "", "", file.id, file.is_test)
