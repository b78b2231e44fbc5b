"""Which bound names of a text are worth keeping: those that its calls begin with."""

from collections.abc import Iterable, Iterator, Sequence

from pipeline.index.values import Binding, Call

OTHER = "?"  # a value that no callee gave
OPEN = ""  # a value that nobody knows yet: a parameter, `None`


def kept(bindings: Iterable[Binding], calls: Sequence[Call]) -> Iterator[Binding]:
    """Bindings to results of calls, and of the others those that hide or unsettle a name.

    A local name hides one from outside where a call begins with it; a second value unsettles
    what a first one says.
    """
    found = tuple(dict.fromkeys(bindings))
    roots = {call.target.partition(".")[0].rstrip("()[]") for call in calls}
    typed = {_place(item) for item in found if item.value not in {OTHER, OPEN}}
    for item in found:
        hides = bool(item.owner) and item.name in roots
        unsettles = item.value == OTHER and _place(item) in typed
        if item.value not in {OTHER, OPEN} or hides or unsettles:
            yield item


def _place(item: Binding) -> tuple[str, str]:
    """What `self.x` names belongs to the class, whichever method binds it."""
    is_held = item.name.startswith("self.")
    return item.owner.rpartition(".")[0] if is_held else item.owner, item.name
