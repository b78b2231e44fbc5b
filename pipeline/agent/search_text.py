"""What searches find, as text of bounded length that says what to do next.

Names are quoted: a file may be called like an order to the reader.
"""

from pipeline.index.quoting import asked_name, quoted
from pipeline.index.search import FileHit, Found, Hit
from pipeline.index.values import Edge

MAX_CHARACTERS = 16_000
MAX_LINES = 400


def bounded(text: str) -> str:
    """At most 400 lines and 16,000 characters of a text."""
    lines = text.split("\n")
    kept = "\n".join(lines[:MAX_LINES])
    if len(kept) > MAX_CHARACTERS:
        kept = kept[:MAX_CHARACTERS]
        kept = kept.rpartition("\n")[0] or kept
    if len(kept) == len(text):
        return text
    return f"{kept}\n(cut: narrow the name or the path to see the rest)"


def hit_text(hit: Hit) -> str:
    """One unit: id and lines, then its preview, then its children."""
    how = f"; alike {hit.score:.2f}" if hit.match == "fuzzy" else ""
    lines = f" (lines {hit.start}–{hit.end}{how})" if hit.end else ""  # of parsed files only
    parts = [f"{hit.kind} {quoted(hit.id)}{lines}"]
    if hit.preview:
        parts.append(hit.preview)
    if hit.children:
        parts.append(f"children: {', '.join(map(quoted, hit.children))}")
    return "\n".join(parts)


def found_text(found: Found[Hit], nothing: str) -> str:
    """All hits, and what else there is."""
    parts = [hit_text(hit) for hit in found.hits] or [nothing]
    return _noted(bounded("\n\n".join(parts)), found.more, found.hidden)


def files_text(found: Found[FileHit], name: str) -> str:
    """Files with their skeletons."""
    if not found.hits:
        nothing = (
            f"No file is called {asked_name(name)}. Try a glob such as *part*, or `list` a folder."
        )
        return _noted(nothing, 0, found.hidden)
    parts = []
    for hit in found.hits:
        about = f" ({hit.language}, {hit.lines} lines)" if hit.language else ""
        parts.append(f"{quoted(hit.path)}{about}" + (f"\n{hit.skeleton}" if hit.skeleton else ""))
    return _noted(bounded("\n".join(parts)), found.more, found.hidden)


def edges_text(found: Found[Edge]) -> str:
    """One relation per line."""
    rows = [_edge(edge) for edge in found.hits] or ["No relation is known."]
    return _noted(bounded("\n".join(rows)), found.more, found.hidden)


def _edge(edge: Edge) -> str:
    line = f" line {edge.line}" if edge.line else ""
    alias = f" as {quoted(edge.alias)}" if edge.alias else ""
    sure = f" (confidence {edge.confidence:g})" if edge.confidence < 1 else ""
    source, target = quoted(edge.source), quoted(edge.target)
    return f"{source} {edge.kind} {target}{alias}{line}{sure}"


def _noted(text: str, more: int, hidden: int) -> str:
    notes = [f"({more} more not shown; narrow the name or the path)"] if more else []
    if hidden:
        notes.append(f"({hidden} in test code left out; tests=true shows them)")
    return "\n".join([text, *notes])
