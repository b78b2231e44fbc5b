"""Names of files as every system and tool reads them: which a patch may not use at all. Pure.

Source: reliability.md §6.8. One repository is checked out on file systems that fold case, drop
characters nobody sees, or know a second, short name for each file; a name that is harmless on
one of them and `.git` on another is refused on all.
"""

import re
import unicodedata

MAX_PATH_BYTES = 255

# Characters nobody sees: zero width, bidirectional control, fillers, tags, variation selectors.
UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)

# In the order they are tried; the first that matches a whole path is its reason.
_PATHS = (
    (re.compile(r".*[\x00-\x1f\x7f-\x9f].*", re.DOTALL), "its name holds control characters"),
    (re.compile(r".*[\ud800-\udfff].*"), "its name is not UTF-8"),
    (re.compile(f".*[{UNSEEN}\ufe0f].*"), "its name holds invisible characters"),
    (re.compile(r"/.*|[A-Za-z]:.*|~.*"), "its name is not relative to the repository"),
    (re.compile(r".*\\.*"), "its name holds a backslash, a separator on Windows"),
    (re.compile(r"|.*//.*|.*/"), "its name has an empty part"),
    (re.compile(r"(?:.*/)?\.\.(?:/.*)?"), "its name climbs out with `..`"),
    (re.compile(r"(?:.*/)?\.(?:/.*)?"), "its name has a part `.`"),
)
_PARTS = (
    # What NTFS and HFS+ read as `.git`: short names, streams, trailing dots and spaces.
    (re.compile(r"(?:\.?git~\d|gi[0-9a-f]{4}~\d|\.git[ .:]).*"), "its name looks like `.git`"),
    # NTFS answers to `CLAUDE~1` for `.claude` and `GITMOD~1` for `.gitmodules`.
    (re.compile(r"[^.~]{1,6}~\d{1,3}(?:\..{0,3})?"), "its name is a short name on Windows"),
    (
        re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:[ .:].*)?"),
        "its name is reserved on Windows",
    ),
    (re.compile(r".*[ .]"), "its name ends with a dot or a space"),
    (re.compile(r'.*[<>:"|?*].*'), "its name holds a character that Windows does not allow"),
)
# Two letters that lower-casing and NFKC leave apart and some systems fold.
_ALIKE = str.maketrans({"ı": "i", "ς": "σ"})


def folded(name: str) -> str:
    """The one form of all spellings that some file system or tool takes for the same name."""
    compatible = unicodedata.normalize("NFKC", name).casefold()
    return unicodedata.normalize("NFKC", compatible).translate(_ALIKE)


def strange_name(path: str) -> str | None:
    """Why no patch may use this name, None when it is an ordinary one."""
    if len(path.encode("utf-8", "surrogateescape")) > MAX_PATH_BYTES:
        return f"its name is longer than {MAX_PATH_BYTES} bytes"
    for pattern, reason in _PATHS:
        if pattern.fullmatch(path):
            return reason
    for part in path.split("/"):
        plain = folded(part)
        if found := next((reason for pattern, reason in _PARTS if pattern.fullmatch(plain)), None):
            return found
        if "/" in plain or plain in {"", ".", ".."}:  # a part that folds into a separator
            return "its name means another one on some systems"
    return None
