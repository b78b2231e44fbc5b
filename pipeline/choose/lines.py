"""Source lines without comments and layout, for languages that are not parsed. Pure, linear.

A small scanner that knows strings and comments and nothing else of a language. Space inside
strings counts; indentation counts where it carries meaning.
"""

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class _Style:
    line: tuple[str, ...] = ()
    block: tuple[tuple[str, str], ...] = ()
    quotes: tuple[str, ...] = ()  # ends at the line's end when not closed
    long_quotes: tuple[str, ...] = ()  # may go over lines
    regex: bool = False
    indent: bool = False
    spaced: bool = False  # space between any two tokens counts


_C = _Style(("//",), (("/*", "*/"),), ('"', "'"))
_JS = _Style(("//",), (("/*", "*/"),), ('"', "'"), ("`",), regex=True)
_HASH = _Style(("#",), (), ('"', "'"), spaced=True)
_INDENTED = _Style(("#",), (), ('"', "'"), indent=True, spaced=True)
_MARKUP = _Style((), (("<!--", "-->"),), spaced=True)
_STYLES = {
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"), _JS),
    **dict.fromkeys(("c", "h", "cc", "cpp", "hpp", "cs", "java", "kt", "scala", "swift"), _C),
    **dict.fromkeys(("rs", "dart", "groovy", "gradle", "proto"), _C),
    "go": _Style(("//",), (("/*", "*/"),), ('"', "'"), ("`",)),
    "php": _Style(("//", "#"), (("/*", "*/"),), ('"', "'")),
    **dict.fromkeys(("css", "scss", "less"), _Style((), (("/*", "*/"),), ('"', "'"), spaced=True)),
    **dict.fromkeys(("rb", "sh", "bash", "zsh", "pl", "r", "toml", "tf", "ex", "exs"), _HASH),
    **dict.fromkeys(("yml", "yaml", "mk", "coffee", "nim"), _INDENTED),
    **dict.fromkeys(
        ("py", "pyi", "pyx"), _Style(("#",), (), ('"', "'"), ('"""', "'''"), indent=True)
    ),
    "lua": _Style(("--",), (("--[[", "]]"),), ('"', "'")),
    "sql": _Style(("--",), (("/*", "*/"),), ('"', "'")),
    **dict.fromkeys(("html", "htm", "xml", "svg", "vue", "svelte"), _MARKUP),
}
# No comments are known: only the ends of lines are trimmed.
_PLAIN = _Style(indent=True)
_OPERATORS = frozenset("+-*/%&|^<>=!~?:.#@$\\")
_BEFORE_REGEX = frozenset("(,=:[!&|?{};+-*%<>~^\n")
_WORDS_BEFORE_REGEX = ("return", "typeof", "case", "in", "of", "delete", "void", "throw", "await")


def normal_lines(path: str, text: str) -> tuple[str, ...]:
    """One string for each line of `text`, "" where nothing but comment or space is on it."""
    style = _STYLES.get(path.rpartition(".")[2].lower(), _PLAIN)
    if not style.line and not style.block:
        return tuple(line.rstrip() for line in text.split("\n"))
    return _Scanner(style, text).run()


@cache
def _tokens(style: _Style) -> re.Pattern[str]:
    """The next thing that matters: a comment's or string's start, space, or one character."""
    starts = [start for start, _ in style.block] + list(style.line)
    comments = "|".join(map(re.escape, sorted(starts, key=len, reverse=True)))
    quotes = "|".join(map(re.escape, (*style.long_quotes, *style.quotes))) or "(?!)"
    return re.compile(
        rf"(?P<comment>{comments})|(?P<quote>{quotes})|(?P<space>[^\S\n]+)|\w+|.|\n", re.DOTALL
    )


class _Scanner:
    def __init__(self, style: _Style, text: str) -> None:
        self.style, self.text = style, text
        self.lines: list[str] = []
        self.line: list[str] = []
        self.gap = False
        self.last = "\n"  # the last piece that was kept, over lines

    def run(self) -> tuple[str, ...]:
        at = 0
        pattern = _tokens(self.style)
        while at < len(self.text):
            found = pattern.match(self.text, at)
            assert found is not None
            at = self.step(found[0], found.lastgroup or "", found.end())
        self.end_line()
        return tuple(self.lines)

    def step(self, piece: str, kind: str, end: int) -> int:
        if piece == "\n":
            self.end_line()
        elif kind == "space":
            self.space(piece)
        elif kind == "comment" and self.comment_may_start(piece):
            return self.comment(piece, end)
        elif kind == "quote":
            return self.string(end - len(piece), piece, end)
        elif piece == "/" and self.style.regex and self.regex_may_start():
            return self.string(end - 1, "/", end)
        else:
            self.keep(piece)
        return end

    def space(self, piece: str) -> None:
        if self.line or not self.style.indent:
            self.gap = True
        else:
            self.line.append(piece)

    def keep(self, piece: str) -> None:
        before = self.line[-1][-1:] if self.line else ""
        if self.gap and before and (self.style.spaced or _needs_gap(before, piece[0])):
            self.line.append(" ")
        self.gap = False
        self.line.append(piece)
        self.last = piece

    def end_line(self) -> None:
        line = "".join(self.line)
        self.lines.append(line if line.strip() else "")
        self.line, self.gap = [], False

    def comment(self, piece: str, end: int) -> int:
        closes = dict(self.style.block).get(piece)
        if closes is None:
            stop = self.text.find("\n", end)
            return len(self.text) if stop < 0 else stop
        stop = self.text.find(closes, end)
        stop = len(self.text) if stop < 0 else stop + len(closes)
        for _ in range(self.text.count("\n", end, stop)):
            self.end_line()
        self.gap = True
        return stop

    def string(self, start: int, quote: str, end: int) -> int:
        """Keep a string as it is; one that may not go over lines ends with its line."""
        long = quote in self.style.long_quotes
        stop = _string_end(self.text, quote, end, long=long)
        first, *others = self.text[start:stop].split("\n")
        self.keep(first)
        for other in others:
            self.end_line()
            self.line = [other] if other else []
        return stop

    def comment_may_start(self, piece: str) -> bool:
        """Unsure means no: two patches that look different are never taken for the same."""
        begins = not any(map(str.strip, self.line))  # nothing but indentation so far
        if begins or self.gap or piece in dict(self.style.block):
            return True
        return piece not in ("#", "//") or (piece == "//" and self.last != ":")

    def regex_may_start(self) -> bool:
        return self.last[-1] in _BEFORE_REGEX or self.last in _WORDS_BEFORE_REGEX


def _needs_gap(before: str, after: str) -> bool:
    """Whether two tokens without the space between them could be read as something else."""
    joined = _like_word(before) and _like_word(after)
    return joined or (before in _OPERATORS and after in _OPERATORS)


def _like_word(char: str) -> bool:
    return char.isalnum() or char in "_\"'`."


def _string_end(text: str, quote: str, at: int, *, long: bool) -> int:
    pattern = _string_body(quote, long)
    found = pattern.match(text, at)
    return found.end() if found else at


@cache
def _string_body(quote: str, long: bool) -> re.Pattern[str]:
    over = "" if long else r"\n"
    if quote == "/":
        # a slash inside [...] does not end a regular expression
        return re.compile(r"(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n]){0,200}\]|[^/\\\n\[])*/?")
    end = re.escape(quote)
    first = re.escape(quote[0])
    inner = rf"[^{first}\\{over}]" if len(quote) == 1 else rf"(?!{end})[^\\{over}]"
    return re.compile(rf"(?:\\.|{inner})*(?:{end})?", re.DOTALL)
