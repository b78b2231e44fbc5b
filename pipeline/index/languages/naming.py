"""Short texts for the index: callees, heads and documentation, in every language alike."""

import re

MAX_SIGNATURE = 160
MAX_DOC = 400
MAX_CALLEE = 400
_MAX_HEAD = 2_000

_PLAIN = re.compile(r"[\w.!]+")
_SEPARATOR = re.compile(r"\?\.|::|\?->|->|!\.|&\.|\\")
_SIGNS = re.compile(r"\$|(?<!\w)#(?=\w)")  # of variables, of private members
_TAIL = re.compile(r"[\w.]{1,80}\Z")
_PIECE = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)"""
    r"""|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<open>[(\[{<])|(?P<close>[)\]}>])|(?P<rest>.)""",
    re.DOTALL,
)
_OPENING = {"(": "()", "[": "[]", "{": "{}", "<": ""}
_MARKS = re.compile(r"^(?:/\*+!?|//[/!]?|\*+/?|#+|--+)\s?|\s*\*+/$")
_SPACE = re.compile(r"\s+")


def target(text: str) -> str:
    """A callee as the index writes it: separators are dots, what is in brackets is left out.

    `a::b`, `a->b` and `a?.b` are `a.b`; `f(x).g` is `f().g`; type arguments vanish. Of an endless
    chain only the end is kept, after `?`.
    """
    if _PLAIN.fullmatch(text) and len(text) <= MAX_CALLEE:
        return text
    if len(text) > MAX_CALLEE:
        tail = _TAIL.search(text)
        return "?" + (tail.group() if tail else "")
    # First the separators: `->` would close a bracket that was never opened.
    short = _without_brackets(_SEPARATOR.sub(".", _SIGNS.sub("", text)))
    return short.replace("..", ".").strip(".")


def _without_brackets(text: str) -> str:
    kept: list[str] = []
    depth = 0
    for found in _PIECE.finditer(text):
        kind, piece = found.lastgroup, found.group()
        if kind == "open":
            if depth == 0:
                kept.append(_OPENING[piece])
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif depth == 0 and kind != "comment":
            kept.append('""' if kind == "string" else piece)
    return _SPACE.sub("", "".join(kept))


def head(text: str) -> str:
    """The head of a definition on one line, at most 160 characters, without what opens its body."""
    line = " ".join(text[:_MAX_HEAD].split()).removesuffix("=>").rstrip(" {=")
    return line if len(line) <= MAX_SIGNATURE else line[: MAX_SIGNATURE - 1] + "…"


def documentation(comments: str) -> str:
    """The text of comment lines without their marks, at most 400 characters."""
    lines = (_MARKS.sub("", line.strip()).strip() for line in comments[: 4 * MAX_DOC].split("\n"))
    return "\n".join(line for line in lines if line)[:MAX_DOC].rstrip()
