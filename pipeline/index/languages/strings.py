"""Pieces of string literals that an issue can quote: long, with a space, no placeholder in them."""

import re
from collections.abc import Iterator

MIN_LENGTH = 10
MAX_LENGTH = 400
MAX_LITERAL = 8_000

_PLACEHOLDER = re.compile(
    r"%\(\w{1,80}\)[-+#0 ]?\d*(?:\.\d+)?[a-zA-Z]"  # %(name)s
    r"|%[-+#0]?\d*(?:\.\d+)?[sdrifgeaxXvqTcup](?![a-zA-Z])"  # %s, %5.2f, %v
    r"|[$#]?\{[^{}\n]{0,200}\}"  # {}, ${x}, #{x}
    r"|\\[nrt]"
)


def pieces(literal: str) -> Iterator[str]:
    """Cut a literal at its placeholders; give the parts worth looking for, white space folded.

    A part is at least 10 characters long and holds a space; at most 400 characters of it are
    kept, and nothing beyond the first 8,000 of the literal.
    """
    for part in _PLACEHOLDER.split(literal[:MAX_LITERAL]):
        if len(part) >= MIN_LENGTH:
            text = " ".join(part.split())
            if len(text) >= MIN_LENGTH and " " in text:
                yield text[:MAX_LENGTH]
