"""Reduce Markdown to what GitHub shows: one pass from left to right, linear in the text.

Where this differs from GitHub it removes too much rather than too little, except inside code,
which is shown and therefore kept.
"""

import html
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field

from app.admission.fences import opened_by

_TOKEN = re.compile(
    r"^ {0,3}(?P<fence>(?:`{3}|~{3})[^\n]*)$"
    r"|^ {0,3}(?P<definition>\[(?!\^)[^\[\]]{1,999}\]:)"
    r"|^ {0,3}(?P<lead><(?=[A-Za-z/!?]))"
    r"|(?P<escape>\\[\\`])"
    r"|(?P<ticks>`+)"
    r"|(?P<image>!\[)"
    r"|(?P<target>\]\()"
    r"|(?P<angle><(?=[A-Za-z/!?]))",
    re.MULTILINE,
)
_TAG = re.compile(
    r"</?(?P<name>[A-Za-z][A-Za-z0-9-]*+)"
    r"(?:\s++[A-Za-z_:@][\w.:@-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+)*+"
    r"\s*+/?>"
)
_LOOSE_TAG = re.compile(r"</?(?P<name>[A-Za-z][A-Za-z0-9-]*+)[^<>]*+>")
_SPOKEN = re.compile(
    r"(?:alt|title|value|content|placeholder|label|summary|aria-[\w-]+|data-[\w-]+)"
    r"\s*=\s*(?:'([^']+)'|\"([^\"]+)\"|([^\s\"'>]+))",
    re.IGNORECASE,
)
_AUTOLINK = re.compile(r"<(https?://[^\s<>]*+)>", re.IGNORECASE)
_TITLE = r"(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\))"
_TARGET = re.compile(
    rf"\]\(\s*+(?:<(?P<angled>[^<>\n]*+)>|(?P<plain>[^\s()<>]*+))(?:\s++(?P<title>{_TITLE}))?+\s*+\)"
)
_IMAGE = re.compile(
    rf"!\[(?P<alt>[^\[\]]*+)\](?:\(\s*+[^\s()]*+(?:\s++{_TITLE})?+\s*+\)|\[[^\[\]]*+\])?+"
)
_DEFINITION = re.compile(
    rf" {{0,3}}\[[^\[\]]{{1,999}}\]:[ \t]*+\n?+[ \t]*+(?P<to>\S++)"
    rf"(?P<title>[ \t]*+\n?+[ \t]*+{_TITLE})?+[ \t]*+$",
    re.MULTILINE,
)
_BLANK = re.compile(r"\n[ \t]*+(?=\n)")
_TICKS = re.compile(r"`+")
_SAFE_TARGET = re.compile(r"(?:https?://|[#/.]|[\w-]+(?:[/#.?]|$))", re.IGNORECASE)
_SWALLOWS = frozenset(
    {"script", "style", "template", "title", "iframe", "noembed", "noframes", "xmp"}
)
_BLOCK = re.compile(
    r"address|article|aside|base|blockquote|body|caption|center|col|colgroup|dd|"
    r"details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|"
    r"frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|legend|li|link|"
    r"main|menu|menuitem|nav|ol|optgroup|option|p|param|picture|pre|script|search|"
    r"section|style|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)


@dataclass(frozen=True, slots=True)
class Hidden:
    """Something a reader does not see: what kind it is, and its text."""

    kind: str
    text: str


@dataclass(slots=True)
class _Scan:
    text: str
    out: list[str] = field(default_factory=list)
    hidden: list[Hidden] = field(default_factory=list)
    html_until: int = 0  # up to here a raw HTML block goes on: no code in it
    absent: set[str] = field(default_factory=set)  # closers that do not occur any more
    blanks: list[int] = field(default_factory=list)
    runs: dict[int, list[int]] = field(default_factory=dict)  # back-ticks by length

    def __post_init__(self) -> None:
        self.blanks = [match.start() for match in _BLANK.finditer(self.text)]
        for match in _TICKS.finditer(self.text):
            self.runs.setdefault(len(match[0]), []).append(match.start())

    def paragraph_end(self, position: int) -> int:
        """Where the next blank line begins."""
        index = bisect_left(self.blanks, position)
        return self.blanks[index] if index < len(self.blanks) else len(self.text)

    def find(self, closer: str, start: int) -> int:
        """Like str.find, but a closer that was missed once is not looked for again."""
        if closer in self.absent:
            return -1
        found = self.text.find(closer, start)
        if found < 0:
            self.absent.add(closer)
        return found

    def hide(self, kind: str, text: str) -> None:
        if text.strip():
            self.hidden.append(Hidden(kind, text))


def reduce(text: str) -> tuple[str, list[Hidden]]:
    """The visible text and what was taken out, in order. `text` has line feeds only."""
    scan = _Scan(text)
    position = 0
    while (match := _TOKEN.search(text, position)) is not None:
        scan.out.append(html.unescape(text[position : match.start()]))
        kind = match.lastgroup or ""
        position = _HANDLERS[kind](scan, match.start(), match)
    scan.out.append(html.unescape(text[position:]))
    return "".join(scan.out), scan.hidden


def _keep(scan: _Scan, start: int, end: int) -> int:
    scan.out.append(scan.text[start:end])
    return end


def _fence(scan: _Scan, start: int, match: re.Match[str]) -> int:
    fence = opened_by(match[0])
    if fence is None or start < scan.html_until:
        return _keep(scan, start, start + 1)
    position = match.end()
    while position < len(scan.text):
        end = scan.text.find("\n", position + 1)
        end = len(scan.text) if end < 0 else end
        if fence.closes(scan.text[position + 1 : end]):
            return _keep(scan, start, end)
        position = end
    return _keep(scan, start, len(scan.text))


def _definition(scan: _Scan, start: int, _match: re.Match[str]) -> int:
    match = _DEFINITION.match(scan.text, start)
    if match is None:
        return _keep(scan, start, scan.text.index("[", start) + 1)
    scan.hide("link definition", match["title"] or "")
    return match.end()


def _escape(scan: _Scan, start: int, match: re.Match[str]) -> int:
    return _keep(scan, start, match.end())


def _ticks(scan: _Scan, start: int, match: re.Match[str]) -> int:
    length = len(match[0])
    runs = scan.runs.get(length, [])
    index = bisect_left(runs, match.end())
    closes = index < len(runs) and runs[index] < scan.paragraph_end(match.end())
    if start < scan.html_until or not closes:
        return _keep(scan, start, match.end())
    return _keep(scan, start, runs[index] + length)


def _image(scan: _Scan, start: int, _match: re.Match[str]) -> int:
    match = _IMAGE.match(scan.text, start)
    if match is None:
        return _keep(scan, start, start + 2)
    scan.hide("image description", match["alt"])
    scan.out.append("(image)")
    return match.end()


def _target(scan: _Scan, start: int, _match: re.Match[str]) -> int:
    match = _TARGET.match(scan.text, start)
    if match is None:
        return _keep(scan, start, start + 2)
    scan.hide("link title", match["title"] or "")
    target = match["angled"] or match["plain"] or ""
    if target and not _SAFE_TARGET.match(target):
        scan.hide("link target", target)
        target = ""
    scan.out.append(f"]({target})")
    return match.end()


def _angle(scan: _Scan, start: int, match: re.Match[str]) -> int:
    text = scan.text
    leads = match.lastgroup == "lead"
    scan.out.append(text[start : match.end() - 1])
    start = match.end() - 1
    for opener, closer, kind in _MARKUP:
        if text.startswith(opener, start):
            end = scan.find(closer, start + len(opener))
            if end < 0 and opener != "<!--":
                break
            scan.hide(kind, text[start + len(opener) : end if end >= 0 else len(text)])
            return end + len(closer) if end >= 0 else len(text)
    if link := _AUTOLINK.match(text, start):
        scan.out.append(link[1])
        return link.end()
    return _tag(scan, start, leads)


def _tag(scan: _Scan, start: int, leads: bool) -> int:
    text = scan.text
    match = _TAG.match(text, start) or (_LOOSE_TAG.match(text, start) if leads else None)
    if match is None:
        return _keep(scan, start, start + 1)
    for spoken in _SPOKEN.finditer(match[0]):
        scan.hide("text in a tag", next(filter(None, spoken.groups()), ""))
    name = match["name"].lower()
    if leads and (_BLOCK.fullmatch(name) or text[match.end() : match.end() + 1] in {"", "\n"}):
        scan.html_until = scan.paragraph_end(match.end())
    if name in _SWALLOWS and not match[0].startswith("</"):
        end = scan.find(f"</{name}", match.end())
        end = len(text) if end < 0 else end
        scan.hide(f"content of <{name}>", text[match.end() : end])
        return end
    return match.end()


_MARKUP = (
    ("<!--", "-->", "HTML comment"),
    ("<![CDATA[", "]]>", "CDATA section"),
    ("<?", "?>", "processing instruction"),
    ("<!", ">", "declaration"),
)
_HANDLERS: dict[str, Callable[[_Scan, int, re.Match[str]], int]] = {
    "fence": _fence,
    "definition": _definition,
    "escape": _escape,
    "ticks": _ticks,
    "image": _image,
    "target": _target,
    "lead": _angle,
    "angle": _angle,
}
