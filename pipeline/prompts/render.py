"""Prompts are files, one per role: filled here, never built elsewhere.

A file holds the system text, then a line `<!-- message -->`, then the message. Both are
`string.Template`s; a note (a text appended to a running conversation) has a message only. A line
`<!-- shared -->` in the message ends the part that several calls of a run have in common: the
model's prefix cache keeps it.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent
MARK = "<!-- message -->\n"
SHARED = "<!-- shared -->\n"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A filled prompt: `system` is the same for every run, `message` holds the values.

    `shared` is the beginning of the message that other calls send as well, "" when there is none.
    """

    role: str
    system: str
    message: str
    shared: str = ""

    @property
    def blocks(self) -> tuple[str, ...]:
        """The message as blocks, the shared one first."""
        rest = self.message[len(self.shared) :].strip()
        return (self.shared, rest) if self.shared else (self.message,)


def placeholders(name: str) -> frozenset[str]:
    """The values that `render` wants for a prompt."""
    return frozenset(Template(_parts(name)[1]).get_identifiers())


def render(name: str, **values: str) -> Prompt:
    """Fill a prompt. Without values only the system part is filled (for agents).

    Raises KeyError when a placeholder has no value, TypeError when a value has no placeholder.
    """
    system, message = _parts(name)
    unknown = set(values) - placeholders(name)
    if unknown:
        raise TypeError(f"Prompt {name!r} has no placeholder {', '.join(sorted(unknown))}.")
    is_filled = bool(values) or not placeholders(name)
    first, _, rest = message.partition(SHARED)
    parts = [Template(part).substitute(values).strip() for part in (first, rest) if is_filled]
    shared = parts[0] if parts and rest else ""
    return Prompt(
        name, Template(system).substitute({}).strip(), "\n\n".join(filter(None, parts)), shared
    )


def note(name: str, **values: str) -> str:
    """A filled note: what gets appended to a conversation that is under way."""
    return render(name, **values).message


@cache
def _parts(name: str) -> tuple[str, str]:
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    system, mark, message = text.partition(MARK)
    return (system, message) if mark else ("", text)
