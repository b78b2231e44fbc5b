"""Hard caps of a patch, looked at before anything else is: pure, linear, never raises.

Source: reliability.md §6.8. What a patch declares counts, not what it has: a few hundred bytes of
a binary hunk can stand for gigabytes.
"""

import re

from sandbox.patch.parse import REGULAR, FilePatch

MAX_FILES = 100
MAX_BYTES = 256 * 1024
MAX_LINES = 20_000
MAX_LINE = 5_000  # characters of an added line
MAX_DECLARED = 1_000_000  # bytes that binary hunks say they stand for, in sum

SYMLINK, GITLINK, EXECUTABLE = "120000", "160000", "100755"
_MODES = frozenset({"", REGULAR, EXECUTABLE, SYMLINK, GITLINK})
# Bytes that are not UTF-8, and halves of characters: no later step could carry them.
_NOT_TEXT = re.compile("[\ud800-\udfff]")
_DECLARED = re.compile(r"^(?:literal|delta) ([0-9]+)", re.MULTILINE)
_DIGITS = 18  # more than any file system can hold, fewer than Python refuses to read


def over_limit(text: str) -> str:
    """Why the text is not even read as a patch, "" when it may be."""
    # characters first: encoding a huge text would cost more than the limit allows
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return f"The patch is larger than {MAX_BYTES // 1024} KB."
    if text.count("\n") > MAX_LINES:
        return f"The patch is longer than {MAX_LINES} lines."
    if text.count("\ndiff --git ") >= MAX_FILES:
        return f"The patch touches more than {MAX_FILES} files."
    if _NOT_TEXT.search(text):
        return "The patch cannot be read: it is not UTF-8 text."
    if declared_bytes(text) > MAX_DECLARED:
        return f"The patch declares more than {MAX_DECLARED // 1_000_000} MB of binary data."
    return ""


def declared_bytes(text: str) -> int:
    """The sum of what the binary hunks of a patch say they unpack to.

    Lines of a text file that look the same count too; an honest patch has none such.
    """
    return sum(
        int(digits) if len(digits) <= _DIGITS else 10**_DIGITS
        for digits in (number.lstrip("0") or "0" for number in _DECLARED.findall(text))
    )


def forbidden_shapes(part: FilePatch) -> tuple[str, ...]:
    """What about a file's kind, mode or move cannot be carried over, as ends of a sentence."""
    modes = {part.old_mode, part.new_mode}
    checks = (
        (SYMLINK in modes, "symbolic links are not allowed"),
        (GITLINK in modes, "submodules are not allowed"),
        (not modes <= _MODES, "its mode is none that git uses for files"),
        (
            part.new_mode == EXECUTABLE and part.old_mode != EXECUTABLE,
            "a new executable bit is not allowed",
        ),
        (part.is_binary, "binary files are not allowed"),
        (bool(part.moved), f"a {part.moved} must be written as a deletion and a new file"),
        (
            max(map(len, part.added), default=0) > MAX_LINE + 1,  # with its line end
            f"an added line is longer than {MAX_LINE} characters",
        ),
    )
    return tuple(sentence for holds, sentence in checks if holds)
