"""A unified diff as the edits an agent would make: passages that occur exactly once. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from emulator.model.script import ScriptError
from pipeline.agent.writing import occurrences

NO_NEWLINE = "\\ No newline at end of file"
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Edit:
    """One call of `edit`; `create` writes a new file."""

    path: str
    old: str
    new: str
    create: bool = False


@dataclass(frozen=True, slots=True)
class Removal:
    """A file that the patch deletes."""

    path: str


@dataclass(frozen=True, slots=True)
class _Hunk:
    at: int  # 0-based index of its first old line
    old: tuple[str, ...]
    new: tuple[str, ...]


def edits_of(patch: str, files: Mapping[str, str]) -> tuple[Edit | Removal, ...]:
    """The edits that make a patch out of the base texts `files`, in order.

    Each old passage is the hunk, grown line by line until it occurs only once in the file as it
    then is. Raises ScriptError when a base text is missing, a hunk does not match it, or the patch
    renames, changes modes or holds binary data.
    """
    steps: list[Edit | Removal] = []
    for part in re.split(r"^(?=diff --git )", patch, flags=re.MULTILINE):
        if part.strip():
            steps.extend(_file_edits(part, files))
    return tuple(steps)


def paths_of(patch: str) -> tuple[str, ...]:
    """The files a patch touches, in its order."""
    return tuple(re.findall(r"^diff --git a/.* b/(.*)$", patch, flags=re.MULTILINE))


def _file_edits(part: str, files: Mapping[str, str]) -> list[Edit | Removal]:
    header = re.match(r"diff --git a/(.+) b/(.+)\n", part)
    if header is None:
        raise ScriptError(f"Not a git patch: it starts with {part[:60]!r}.")
    path = header.group(2)
    head = part.split("\n@@", 1)[0]
    for words in ("rename from", "old mode", "Binary files", "GIT binary patch", "mode 100755"):
        if words in head and not (words == "mode 100755" and "new file" not in head):
            raise ScriptError(f"{path}: a script cannot play a patch with {words!r}.")
    hunks = _hunks(part)
    if "\nnew file mode" in head:
        return [Edit(path, "", "".join(line for hunk in hunks for line in hunk.new), create=True)]
    if "\ndeleted file mode" in head:
        return [Removal(path)]
    if path not in files:
        raise ScriptError(f"The base text of {path} is missing in `files`.")
    return [Edit(path, old, new) for old, new in _passages(path, files[path], hunks)]


def _passages(path: str, base: str, hunks: list[_Hunk]) -> list[tuple[str, str]]:
    lines, shift, passages = split_lines(base), 0, []
    for hunk in hunks:
        start = hunk.at + shift
        end = start + len(hunk.old)
        if tuple(lines[start:end]) != hunk.old:
            raise ScriptError(f"The patch does not apply to the base text of {path}.")
        low, high, text = start, end, "".join(lines)
        while occurrences(text, "".join(lines[low:high])) != 1:
            low, high = max(0, low - 1), min(len(lines), high + 1)
        new = "".join([*lines[low:start], *hunk.new, *lines[end:high]])
        passages.append(("".join(lines[low:high]), new))
        lines[start:end] = hunk.new
        shift += len(hunk.new) - len(hunk.old)
    return passages


def _hunks(part: str) -> list[_Hunk]:
    """Hunks by the counts of their headers; an empty line is a context line that lost its space."""
    hunks: list[_Hunk] = []
    lines = part.split("\n")
    at = 0
    while at < len(lines):
        match = HUNK.match(lines[at])
        at += 1
        if match:
            start, old, new = (int(match.group(n) or "1") for n in (1, 2, 3))
            hunk, at = _hunk(lines, at, old, new)
            hunks.append(_Hunk(start - 1 if old else start, *hunk))
    return hunks


def _hunk(
    lines: list[str], at: int, old: int, new: int
) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], int]:
    """The old and new lines of one hunk whose body starts at `at`, and where it ends."""
    before: list[str] = []
    after: list[str] = []
    last: tuple[list[str], ...] = ()
    while at < len(lines) and (len(before) < old or len(after) < new or lines[at] == NO_NEWLINE):
        tag, text = lines[at][:1] or " ", lines[at][1:]
        at += 1
        if tag == "\\":
            for side in last:
                side[-1] = side[-1].removesuffix("\n")
            continue
        last = {" ": (before, after), "-": (before,), "+": (after,)}.get(tag, ())
        if not last:
            raise ScriptError(f"Not a line of a hunk: {tag + text!r}.")
        for side in last:
            side.append(text + "\n")
    return (tuple(before), tuple(after)), at


def split_lines(text: str) -> list[str]:
    """Lines with their ends, split at line feeds only, as git does."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
