"""Make text that a model or a repository wrote harmless inside our Markdown.

Nothing of it mentions people, closes or links issues, starts commands, loads images, links
away or breaks the table or block around it. Linear in the text. A text with a secret is never
sent, not even partly.
"""

import re

from app.github.errors import SecretInText
from app.messages.characters import without_invisible
from pipeline.evidence.policy_lines import secrets_in

LIMIT = 60_000  # GitHub takes 65,536 characters
MAX_TITLE_READ = 1000

_CODE_SPAN = re.compile(r"(`+)([^`\n](?:[^\n]*?[^`\n])??)(?<!`)\1(?!`)")
_LINK = re.compile(
    r"(?:\b[a-z][a-z0-9+.-]{1,20}:)?//[^\s<>`|)\]]+|www\.[^\s<>`|)\]]+",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\b(?:data|javascript|vbscript|file|mailto):[^\s<>`|)\]]*", re.IGNORECASE)
_LIVE = re.compile(
    r"[\w.+-]*@[\w./-]*"  # mentions, teams, addresses
    r"|[\w./-]*#\d+"  # references, also to other repositories
    r"|(?i:GH)-\d+"
    r"|(?<![\w/])/[A-Za-z][\w./-]*"  # commands of any bot
)
_SPECIAL = re.compile(r"[\\*~|$\[\]]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|^[#>+=-]|(?<=^\d)[.)]")


def inline(text: str, limit: int = 300) -> str:
    """One line of at most `limit` characters of the original, safe also in a table's cell."""
    text = " ".join(without_invisible(text)[0].split())
    if len(text) > limit:
        text = text[: limit - 1].rstrip() + "…"
    parts = []
    position = 0
    for span in _spans(text):
        parts += [_prose(text[position : span[0]]), code(text[span[0] : span[1]].strip("`"))]
        position = span[1]
    return "".join(parts) + _prose(text[position:])


def code(text: str, limit: int = 200) -> str:
    """Text as inline code, where GitHub interprets nothing; safe also in a table's cell."""
    text = " ".join(without_invisible(text)[0].split()).replace("|", "\\|")
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    if not text:
        return ""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(text: str, limit: int = 8000) -> str:
    """Text as a code block whose fence it cannot close."""
    text = without_invisible(text)[0].strip("\n")
    if len(text) > limit:
        text = text[:limit] + "\n…"
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks}text\n{text}\n{ticks}"


def title(text: str, limit: int = 72) -> str:
    """A title: GitHub renders no Markdown there, but mentions and references still count."""
    text = " ".join(without_invisible(text)[0].split())[:MAX_TITLE_READ]
    text = re.sub(r"\[skip ci\]|\[ci skip\]", "", text, flags=re.IGNORECASE)
    text, before = re.sub(r"[`<>\[\]]", "", text), ""
    while text != before:  # what is left when a sign is gone may be live again
        text, before = _LIVE.sub(_dead, _without_links(text)), text
    text = " ".join(text.split()).rstrip(".")
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    head, _, _ = cut.rpartition(" ")
    return (head if len(head) > limit // 2 else cut).rstrip(" ,;:") + "…"


def check_secrets(text: str, known: tuple[str, ...] = ()) -> str:
    """The same text; raises SecretInText when it holds a key's shape or one of `known`.

    Known secrets are also looked for reversed and without their line ends.
    """
    kinds = list(secrets_in(text))
    flat = "".join(text.split())
    for secret in known:
        bare = "".join(secret.split())
        if len(bare) >= 8 and (bare in flat or bare[::-1] in flat):
            kinds.append("one of this server's own secrets")
    if kinds:
        raise SecretInText(tuple(dict.fromkeys(kinds)))
    return text


def _dead(live: "re.Match[str]") -> str:
    return re.sub(r"[@#/]|(?<=GH)-", "", live[0], flags=re.IGNORECASE)


def _spans(text: str) -> "list[tuple[int, int]]":
    return [match.span() for match in _CODE_SPAN.finditer(text)]


def _without_links(text: str) -> str:
    return _SCHEME.sub("(link removed)", _LINK.sub("(link removed)", text))


def _prose(text: str) -> str:
    parts = []
    position = 0
    text = _without_links(text.replace("`", "'"))
    for match in _LIVE.finditer(text):
        parts += [_escaped(text[position : match.start()]), code(match[0])]
        position = match.end()
    return "".join(parts) + _escaped(text[position:])


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return _SPECIAL.sub(lambda found: "\\" + found[0], text)
