"""One blob to what the index keeps of it. Text only: nothing is imported or executed."""

from pipeline.index.guard import objection
from pipeline.index.languages import is_test, language_of, spec_of
from pipeline.index.languages.reader import TimeOut, read
from pipeline.index.languages.spec import Found
from pipeline.index.values import ParsedFile

__all__ = ["is_test", "language_of", "parse"]


def parse(path: str, data: bytes, deadline_s: float = 5.0) -> ParsedFile:
    """Read one file; the path only chooses the language, "" when none is known.

    Never raises. A blob that is too large, binary, an LFS pointer, minified, generated, or takes
    longer than the deadline has `degraded` set and no definitions. Syntax errors cost only what
    stands around them. Invalid UTF-8 is replaced; lines are counted at line feeds.

    Imports: `import a.b` has the alias `a.b`, what code writes. `name` is `default` for a default
    import. A file's own renamings (`export {a as b}`, `export default f`) have the module "".
    Calls: `::`, `->` and `?.` are written `.`; a decorator and a JSX element are calls too.
    """
    spec = spec_of(path)
    language = spec.name if spec else ""
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    why = objection(data)
    if why or spec is None:
        return ParsedFile(language, lines, degraded=why)
    try:
        found = read(spec, text_of(data), deadline_s)
    except TimeOut:
        return ParsedFile(language, lines, degraded="time-out")
    if found.broken and not (found.definitions or found.imports or found.calls):
        return ParsedFile(language, lines, degraded="syntax")
    return _parsed(language, lines, found)


def text_of(data: bytes) -> str:
    """A blob as text whose lines end where line feeds are: no lone carriage return, no BOM."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", " ")
    return text.replace("\0", " ")


def _parsed(language: str, lines: int, found: Found) -> ParsedFile:
    return ParsedFile(
        language=language,
        lines=lines,
        definitions=found.definitions,
        imports=found.imports,
        calls=found.calls,
        exports=found.exports,
        strings=found.strings,
        bindings=found.bindings,
    )
