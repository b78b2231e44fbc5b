"""Names of a repository on one line: what cannot be seen is written as escapes, both ways."""

import re

MAX_ASKED = 200  # characters of a name that does not exist
_ESCAPE = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[ntr\\])")


def quoted(name: str) -> str:
    r"""A name with control characters, odd blanks and bytes that are no UTF-8 as escapes of Python.

    A name without any stays as it is, backslashes included.

    >>> quoted("a\nb\udcff.py")
    'a\\nb\\udcff.py'
    """
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() and c != "\\" else ascii(c)[1:-1] for c in name)


def asked_name(text: str) -> str:
    """What somebody asked for, as an answer repeats it: quoted, without its middle when long."""
    if len(text) <= MAX_ASKED:
        return repr(text)
    half = MAX_ASKED // 2
    return f"{text[:half] + '…' + text[-half:]!r} ({len(text)} characters)"


def unquoted(text: str) -> str:
    """What was quoted; ask first whether the text is a name as it stands."""
    return _ESCAPE.sub(lambda found: found[0].encode().decode("unicode_escape"), text)
