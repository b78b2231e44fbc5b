"""What an issue names: identifiers, dotted names, paths, permalinks, frames, references.

One pure function. Every pattern is linear in the text: runs of one character class, or a fixed
start with bounded repetition, so that a hostile issue costs no more than its length.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, pairwise

MAX_TEXT = 200_000
MAX_KEPT = 400  # of each kind

TICKED, COMPOUND, CODED, CALLED, CAPITAL, PLAIN = 1.0, 0.9, 0.7, 0.6, 0.35, 0.2
TITLE = 1.5

_SUFFIX = frozenset(
    """
    py pyi pyx js jsx mjs cjs ts tsx mts cts go rs java c h cc cpp cxx hpp hh rb php kt scala cs
    swift vue svelte lua sh
    """.split()  # noqa: SIM905 - a list of strings is hard to read
)
_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)")
_CODE_LINE = re.compile(r"(?: {4}|\t|>>>|\.\.\. |In \[\d{1,5}\]:|\$ )")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_TICKS = re.compile(r"`([^`\n]{1,200})`")
_RUN = re.compile(r"[\w./\\@+~-]+")
_DOTTED = re.compile(r"(?<!\w)[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)++")
_LINK = re.compile(
    r"/(?:blob|src|tree)/([0-9A-Za-z][\w.-]{0,80})/([\w./%+@-]{1,300})(?:#L(\d{1,7})(?:-L?(\d{1,7}))?)?"
)
_PYTHON = re.compile(r'File "([^"\n]{1,300})", line (\d{1,7})(?:, in ([\w<>.]{1,120}))?')
_CALL_SITE = re.compile(  # JavaScript, Java, Rust, .NET: `at name (file:line:column)`
    r"\bat (?:async |new )?(?:([\w$.<>\[\]#]{1,160}) ?\()?"
    r"((?:file://)?[\w./\\@+~-]{1,300}):(\d{1,7})"
)
_LINE = re.compile(r":(\d{1,7})\b(?::in [`']([\w.#?!]{1,120}))?")
_IMPORT = re.compile(r"(?m)^[>\s.]{0,8}(?:from ([\w.]{1,120}) )?import ([\w., *()]{1,200})")
_URL = re.compile(r"\b(?:https?|ftp)://[^\s<>\"')\]]+")
_VERSION = re.compile(
    r"^[ \t]*[\w. -]{1,40}(?::|==)[ \t]*v?\d{1,6}(?:\.\w{1,20}){1,5}[^\n]{0,40}$", re.MULTILINE
)
_REF = re.compile(r"(?<![\w&])#(\d{1,7})\b|\b([0-9a-f]{7,40})\b")


@dataclass(frozen=True, slots=True)
class Frame:
    """One call site, innermost of its traceback last; `function` "" where none is named."""

    path: str
    line: int
    function: str
    trace: int


@dataclass(frozen=True, slots=True)
class Permalink:
    """A link to a file of some commit; `start` and `end` are 0 without lines."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mentions:
    """What was found. `identifiers` map to a strength up to 1.5; `prose` is the text without
    code, `clean` all of it without links, frames and version lists, `folded` for quotes."""

    identifiers: Mapping[str, float]
    dotted: tuple[str, ...]
    paths: tuple[str, ...]
    permalinks: tuple[Permalink, ...]
    frames: tuple[Frame, ...]
    references: frozenset[str]
    clean: str
    prose: str
    folded: str = field(repr=False, default="")


def mentions(title: str, body: str) -> Mentions:
    """Read an issue. Never raises; what is beyond 200,000 characters is not read."""
    body = body.replace("\r\n", "\n").replace("\r", "\n")[:MAX_TEXT]
    title = title[:MAX_TEXT]
    whole = f"{title}\n{body}"
    links = tuple(_permalinks(whole))
    frames = tuple(islice(_frames(whole), MAX_KEPT))
    clean = cleaned(body)
    prose, code = split(clean)
    return Mentions(
        identifiers=_identifiers(title, prose, code),
        dotted=tuple(_dotted(f"{title}\n{clean}"))[:MAX_KEPT],
        paths=tuple(dict.fromkeys(_paths(f"{title}\n{clean}")))[:MAX_KEPT],
        permalinks=links[:MAX_KEPT],
        frames=frames,
        references=frozenset(one or two for one, two in _REF.findall(whole)[:MAX_KEPT]),
        clean=clean,
        prose=prose,
        folded=folded(whole),
    )


def cleaned(text: str) -> str:
    """The text without what names no code of the project: comments of forms, links, versions."""
    text = _URL.sub(" ", _without_comments(text))
    text = _PYTHON.sub(" ", text)
    return _VERSION.sub("", text)


def _without_comments(text: str) -> str:
    """Without `<!-- … -->`; one that is not closed stays."""
    kept, start = [], 0
    while (opened := text.find("<!--", start)) >= 0 and (closed := text.find("-->", opened)) >= 0:
        kept.append(text[start:opened])
        start = closed + 3
    return " ".join([*kept, text[start:]])


def split(text: str) -> tuple[str, str]:
    """Prose and code: code is fenced, indented like code, or typed at a prompt."""
    prose: list[str] = []
    code: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            continue
        (code if fenced or _CODE_LINE.match(line) else prose).append(line)
    return "\n".join(prose), "\n".join(code)


def folded(text: str) -> str:
    """White space and case made equal, so that a quoted message is found again."""
    return " ".join(text.lower().split())


def is_compound(name: str) -> bool:
    """Whether a name looks like code by itself: `get_order`, `QuerySet`, `_meta`."""
    inner = name.strip("_$")
    humps = any(one.islower() and two.isupper() for one, two in pairwise(inner))
    return "_" in inner or humps or (name != inner and len(inner) > 1)


def _identifiers(title: str, prose: str, code: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for text, factor, compound in (
        (title, TITLE, COMPOUND),
        (prose, 1.0, COMPOUND),
        (code, 1.0, CODED),
    ):
        for name, strength in _named(text, compound):
            found[name] = max(found.get(name, 0.0), strength * factor)
        if compound == COMPOUND:
            for quoted in _TICKS.findall(text):
                for name in _NAME.findall(quoted):
                    found[name] = max(found.get(name, 0.0), TICKED * factor)
    return found


def _named(text: str, compound: float) -> Iterator[tuple[str, float]]:
    for match in _NAME.finditer(text):
        name, start, end = match[0], match.start(), match.end()
        if len(name) < 2 or len(name) > 100:
            continue
        strength = PLAIN
        if is_compound(name):
            strength = compound
        elif text[end : end + 1] == "(" or (start and text[start - 1] == "."):
            strength = CALLED
        elif name[0].isupper():
            strength = CAPITAL
        yield name, strength


def _dotted(text: str) -> Iterator[str]:
    """Dotted names, and `from a import b, c` as `a.b`, `a.c`; aliases of imports followed."""
    aliases: dict[str, str] = {}
    seen: dict[str, None] = {}
    for module, names in _IMPORT.findall(text):
        for part in names.replace("(", "").replace(")", "").split(","):
            words = part.split()
            if not words or words[0] == "*":
                continue
            target = f"{module}.{words[0]}" if module else words[0]
            if "." in target:
                seen[target.strip(".")] = None
            if len(words) == 3 and words[1] == "as":
                aliases[words[2]] = target
            elif module:
                aliases[words[0]] = target
    for name in _DOTTED.findall(text):
        if len(name) > 200 or name.rpartition(".")[2] in _SUFFIX:
            continue
        head, _, rest = name.partition(".")
        seen[f"{aliases[head]}.{rest}" if head in aliases else name] = None
    yield from seen


def _paths(text: str) -> Iterator[str]:
    for run in _RUN.findall(text):
        path = run.strip(".").replace("\\", "/")
        if path.rpartition(".")[2] in _SUFFIX and len(path) < 300:
            yield path.lstrip("/")


def _permalinks(text: str) -> Iterator[Permalink]:
    for _, path, start, end in _LINK.findall(text):
        if path.rpartition(".")[2] in _SUFFIX:
            yield Permalink(path, int(start or 0), int(end or start or 0))


def _frames(text: str) -> Iterator[Frame]:
    """Frames of all tracebacks in order; a run of call sites that starts anew is a new one."""
    trace = 0
    python = list(_PYTHON.finditer(text))
    for before, match in zip([None, *python], python, strict=False):
        gap = text[before.end() : match.start()] if before else ""
        trace += gap.count("\n") > 3
        yield Frame(match[1].replace("\\", "/"), int(match[2]), match[3] or "", trace)
    # These tracebacks begin with the innermost call.
    calls = [each for each in _CALL_SITE.finditer(text) if _is_source(each[2])]
    for match in reversed(calls):
        name = (match[1] or "").rpartition(".")[2]
        yield Frame(
            match[2].removeprefix("file://").replace("\\", "/"), int(match[3]), name, trace + 1
        )
    for run in () if calls else _RUN.finditer(text):
        path = run[0][-300:]
        if _is_source(path) and (line := _LINE.match(text, run.end())):
            yield Frame(path.replace("\\", "/"), int(line[1]), line[2] or "", trace + 2)


def _is_source(path: str) -> bool:
    return path.rpartition(".")[2] in _SUFFIX
