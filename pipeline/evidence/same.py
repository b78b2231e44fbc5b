"""Which candidates run as one: those whose programs differ in comments and layout only. Pure.

Stricter than the key that the vote compares by: that one takes two conventions on trust
(`== None` is `is None`), and it leaves out docstrings, which doctests run. Evidence is shared only
where what runs is the same.
"""

import ast
import json
import warnings
from hashlib import sha256

from pipeline.choose.normalise import Texts
from sandbox.patch.patch import parse

MAX_CHARS = 1_000_000


def runs_as(source_patch: str, after: Texts) -> str:
    """A digest of what the base becomes with a patch: 24 hexadecimal digits.

    Python files count by their syntax tree, docstrings included, all others by their bytes.
    `after` holds the text of every touched path. Raises PatchError when the patch cannot be read.
    """
    found = []
    for part in parse(source_patch):
        text = after.get(part.path)
        content = "" if text is None else _program(part.path, text)
        kind = "deleted" if text is None else part.new_mode
        raw = part.text if part.is_binary or part.moved else ""
        found.append((part.path, kind, content, raw))
    return sha256(json.dumps(sorted(found)).encode()).hexdigest()[:24]


def _program(path: str, text: str) -> str:
    if not path.endswith((".py", ".pyi")) or len(text) > MAX_CHARS:
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(ast.parse(text.encode("utf-8", "surrogateescape")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
