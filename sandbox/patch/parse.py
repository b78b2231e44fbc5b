"""A strict reader of git's unified diffs: values of a patch, and the text they were read from.

It takes what `git diff --binary --full-index` writes and nothing looser: what git would read
with some other meaning (missing counts, other prefixes, trailing text) is an error here, so that
policy, vote and publisher never disagree about what a patch does.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sandbox.errors import SandboxError

REGULAR = "100644"
_FILE = "diff --git "
_HUNK = re.compile(
    r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: (.*))?", re.DOTALL
)
_INDEX = re.compile(r"index ([0-9a-f]{7,64})\.\.([0-9a-f]{7,64})(?: ([0-7]{6}))?")
_MODE = re.compile(r"(old mode|new mode|deleted file mode|new file mode) ([0-7]{6})")
_MOVE = re.compile(r"(rename|copy) (from|to) (.+)", re.DOTALL)
_SIMILARITY = re.compile(r"(?:dis)?similarity index \d{1,3}%")
_BINARY = re.compile(r"(literal|delta) (\d{1,18})")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


class PatchError(SandboxError, ValueError):
    """The text is not a patch of git's, or it does not fit the file; the message says where."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk. `lines` keep their sign and their newline; the last may lack the newline.

    Starts are as git writes them: 1-based, and the line before when the count is 0.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    section: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch does to one file.

    `old_path` is None for a new file, `new_path` None for a deleted one; modes are six octal
    digits, "" where there is no file or the patch does not say. `moved` is "rename" or "copy"
    when git recorded one. `new_id` is the object name after the patch, as it was written. `text`
    is the exact part of the patch this was read from.
    """

    old_path: str | None
    new_path: str | None
    old_mode: str = ""
    new_mode: str = ""
    new_id: str = ""
    is_binary: bool = False
    moved: str = ""
    hunks: tuple[Hunk, ...] = ()
    text: str = field(default="", repr=False)

    @property
    def path(self) -> str:
        """The path after the patch, or the deleted one."""
        return self.new_path or self.old_path or ""

    @property
    def added(self) -> tuple[str, ...]:
        """Added lines in order, without sign, with their newline."""
        return tuple(line[1:] for hunk in self.hunks for line in hunk.lines if line[0] == "+")

    @property
    def removed(self) -> tuple[str, ...]:
        """Removed lines in order, without sign, with their newline."""
        return tuple(line[1:] for hunk in self.hunks for line in hunk.lines if line[0] == "-")


def parse(text: str) -> tuple[FilePatch, ...]:
    """Read a whole patch, files in its order; "" gives (). Raises PatchError. Linear."""
    if not text:
        return ()
    if not text.endswith("\n"):
        raise PatchError("The patch does not end with a newline: it was cut off.")
    lines = text.split("\n")[:-1]
    starts = [number for number, line in enumerate(lines) if line.startswith(_FILE)]
    if not starts or starts[0] != 0:
        raise PatchError("Line 1 is not the `diff --git` line of a file.")
    # A hunk's own lines begin with a sign, so `diff --git` at the start of a line ends a file.
    ends = [*starts[1:], len(lines)]
    return tuple(_FileReader(lines, *span).read() for span in zip(starts, ends, strict=True))


def unquote(name: str) -> str:
    """A name as git writes it, with its C-style quotes and octal escapes taken away."""
    if not name.startswith('"'):
        return name
    if len(name) < 2 or not name.endswith('"'):
        raise PatchError(f"The quoted name {name[:80]} has no end.")
    return bytes(_unescape(name[1:-1])).decode("utf-8", "surrogateescape")


def _unescape(inner: str) -> Iterator[int]:
    position = 0
    while position < len(inner):
        char = inner[position]
        if char == '"':
            raise PatchError("A quoted name ends early.")
        if char != "\\":
            yield from char.encode("utf-8", "surrogateescape")
            position += 1
            continue
        follow = inner[position + 1 : position + 2]
        octal = inner[position + 1 : position + 4]
        if follow and follow in _ESCAPES:
            yield _ESCAPES[follow]
            position += 2
        elif re.fullmatch(r"[0-3][0-7]{2}", octal):
            yield int(octal, 8)
            position += 4
        else:
            raise PatchError("A quoted name holds an unknown escape.")


class _FileReader:
    """Reads the lines [at, end) of one file's part; `at` moves on as lines are used up."""

    def __init__(self, lines: list[str], at: int, end: int) -> None:
        self.lines, self.start, self.at, self.end = lines, at, at, end
        self.modes: dict[str, str] = {}
        self.moves: dict[str, str] = {}
        self.new_id = ""

    def read(self) -> FilePatch:
        heading = self.take()[len(_FILE) :]
        while self.at < self.end and self.header():
            self.at += 1
        old, new = self.names(heading)
        is_binary = self.binary()
        hunks = () if is_binary else self.body(old, new)
        if self.at != self.end:
            raise self.error("this line belongs to no hunk")
        if not (hunks or is_binary or self.modes or self.moves):
            raise self.error("nothing happens to this file")
        shared = self.modes.get("index", "")
        return FilePatch(
            old_path=old,
            new_path=new,
            old_mode=self.modes.get("old mode", self.modes.get("deleted file mode", shared)),
            new_mode=self.modes.get("new mode", self.modes.get("new file mode", shared)),
            new_id=self.new_id,
            is_binary=is_binary,
            moved=next(iter(self.moves)).split()[0] if self.moves else "",
            hunks=hunks,
            text="\n".join(self.lines[self.start : self.end]) + "\n",
        )

    def take(self) -> str:
        if self.at >= self.end:
            raise self.error("the patch ends in the middle of a file")
        self.at += 1
        return self.lines[self.at - 1]

    def error(self, what: str) -> PatchError:
        return PatchError(f"Patch line {min(self.at, self.end - 1) + 1}: {what}.")

    def header(self) -> bool:
        """Take note of the extended header at `at`; False when the line is none."""
        line = self.lines[self.at]
        if found := _MODE.fullmatch(line):
            self.note(self.modes, found[1], found[2])
        elif found := _MOVE.fullmatch(line):
            self.note(self.moves, f"{found[1]} {found[2]}", unquote(found[3]))
        elif found := _INDEX.fullmatch(line):
            if self.new_id:
                raise self.error("a second `index` line")
            self.new_id = found[2]
            if found[3]:
                self.note(self.modes, "index", found[3])
        else:
            return _SIMILARITY.fullmatch(line) is not None
        return True

    def note(self, table: dict[str, str], key: str, value: str) -> None:
        if key in table:
            raise self.error(f"`{key}` is given twice")
        table[key] = value

    def names(self, heading: str) -> tuple[str | None, str | None]:
        """The names of the heading, None where the headers say that there is no file."""
        kinds = set(self.modes) - {"index"}
        if kinds not in ({"old mode", "new mode"}, {"new file mode"}, {"deleted file mode"}, set()):
            raise self.error("the modes contradict each other")
        if self.moves:
            return self.moved_names(heading)
        name = self.same_name(heading)
        return (
            None if "new file mode" in kinds else name,
            None if "deleted file mode" in kinds else name,
        )

    def moved_names(self, heading: str) -> tuple[str, str]:
        for kind in ("rename", "copy"):
            if set(self.moves) == {f"{kind} from", f"{kind} to"}:
                old, new = self.moves[f"{kind} from"], self.moves[f"{kind} to"]
                pairs = {f"{a} {b}" for a in _spellings("a/", old) for b in _spellings("b/", new)}
                if heading in pairs:
                    return old, new
        raise self.error("the names of a moved file contradict each other")

    def same_name(self, heading: str) -> str:
        half = (len(heading) - 1) // 2
        old, gap, new = unquote(heading[:half]), heading[half : half + 1], heading[half + 1 :]
        new = unquote(new)
        well_formed = old.startswith("a/") and new.startswith("b/") and gap == " "
        if not well_formed or old[2:] != new[2:] or not old[2:]:
            raise self.error("the two names of the `diff --git` line do not fit each other")
        return old[2:]

    def binary(self) -> bool:
        """Whether the file is binary; its lines are used up then."""
        if self.at >= self.end:
            return False
        line = self.lines[self.at]
        if line.startswith("Binary files ") and line.endswith(" differ"):
            self.at += 1
            return True
        if line != "GIT binary patch":
            return False
        self.at += 1
        while self.at < self.end:
            if not _BINARY.fullmatch(self.take()):
                raise self.error("not the head of a binary part")
            while self.take():
                pass
        return True

    def body(self, old: str | None, new: str | None) -> tuple[Hunk, ...]:
        if self.at >= self.end:
            return ()
        for sign, prefix, name in (("---", "a/", old), ("+++", "b/", new)):
            if self.take() not in _file_lines(sign, prefix, name):
                self.at -= 1
                raise self.error(f"`{sign}` does not name the file of the `diff --git` line")
        hunks = []
        while self.at < self.end:
            hunks.append(self.hunk())
        if not hunks:
            raise self.error("a file without hunks")
        return tuple(hunks)

    def hunk(self) -> Hunk:
        found = _HUNK.fullmatch(self.take())
        if not found:
            self.at -= 1
            raise self.error("not the head of a hunk")
        old_count = 1 if found[2] is None else int(found[2])
        new_count = 1 if found[4] is None else int(found[4])
        lines = self.hunk_lines(old_count, new_count)
        return Hunk(int(found[1]), old_count, int(found[3]), new_count, found[5] or "", lines)

    def hunk_lines(self, old_left: int, new_left: int) -> tuple[str, ...]:
        lines: list[str] = []
        while old_left or new_left or self.at_marker():
            # written out instead of `take`: this loop is most of the time of a large patch
            if self.at >= self.end:
                raise self.error("the patch ends in the middle of a hunk")
            line = self.lines[self.at]
            self.at += 1
            sign = line[:1]
            if sign == "+":
                new_left -= 1
            elif sign == "-":
                old_left -= 1
            elif sign == " ":
                old_left -= 1
                new_left -= 1
            elif sign == "\\" and lines and lines[-1].endswith("\n"):
                lines[-1] = lines[-1][:-1]
                continue
            else:
                raise self.error("a hunk's line without a sign")
            lines.append(line + "\n")
        if old_left or new_left:
            raise self.error("a hunk with more lines than its head says")
        return tuple(lines)

    def at_marker(self) -> bool:
        return self.at < self.end and self.lines[self.at].startswith("\\ ")


def quote(name: str) -> str:
    """A name as git writes it with `core.quotePath` at its default."""
    data = name.encode("utf-8", "surrogateescape")
    if all(0x20 <= byte < 0x7F and byte not in b'"\\' for byte in data):
        return name
    back = {value: key for key, value in _ESCAPES.items()}
    return '"' + "".join(_escaped(byte, back) for byte in data) + '"'


def _escaped(byte: int, back: dict[int, str]) -> str:
    if byte in back:
        return "\\" + back[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _spellings(prefix: str, name: str) -> tuple[str, str]:
    """Quoted as by default, and as with `core.quotePath=false`."""
    return quote(prefix + name), prefix + name


def _file_lines(sign: str, prefix: str, name: str | None) -> tuple[str, ...]:
    if name is None:
        return (f"{sign} /dev/null",)
    # git ends an unquoted name that holds a space with a tab
    return tuple(f"{sign} {text}{end}" for text in _spellings(prefix, name) for end in ("", "\t"))
