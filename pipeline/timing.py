"""What a run waited for: the chain of items that took its time. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.services import Json

MANY = 12  # items of a chain that are told; longer ones are told by stage


@dataclass(frozen=True, slots=True)
class Span:
    """One item's last attempt, `stage/item`; times are seconds of the same clock."""

    item: str
    start: float
    end: float

    @property
    def seconds(self) -> float:
        """How long it took."""
        return max(0.0, self.end - self.start)


def spans_in(events: Iterable[Mapping[str, Json]]) -> tuple[Span, ...]:
    """The finished items in a journal's events; none for a journal that has no times."""
    begun: dict[str, float] = {}
    ended: dict[str, Span] = {}
    for event in events:
        at, name = event.get("at"), str(event.get("item", ""))
        if isinstance(at, int | float) and event.get("event") == "start":
            begun[name] = float(at)
        elif isinstance(at, int | float) and event.get("event") == "finish" and name in begun:
            ended[name] = Span(name, begun[name], float(at))
    return tuple(ended.values())


def critical_path(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The items that followed each other until the end, in their order; () when there is none.

    Backwards from the item that ended last. Before each stands the one it had to wait for: the
    explanation or branch before it in its sequence, else what ended last before it began – the
    stage before, or the item whose place it took.
    """
    if not spans:
        return ()
    by_name = {each.item: each for each in spans}
    chain = [max(spans, key=lambda each: (each.end, each.item))]
    while (found := _before(chain[-1], spans, by_name)) is not None:
        chain.append(found)
    return tuple(reversed(chain))


def told(spans: Sequence[Span]) -> str:
    """The critical path in one line, "" when there is none."""
    chain = critical_path(spans)
    if not chain:
        return ""
    names = [f"{each.item} {_words(each.seconds)}" for each in chain]
    if len(chain) > MANY:
        stages: dict[str, list[float]] = {}
        for each in chain:
            stages.setdefault(each.item.partition("/")[0], []).append(each.seconds)
        names = [f"{name} ×{len(took)} {_words(sum(took))}" for name, took in stages.items()]
    whole = max(each.end for each in spans) - min(each.start for each in spans)
    work = sum(each.seconds for each in spans)
    return (
        f"Critical path: {' → '.join(names)}; {_words(sum(each.seconds for each in chain))} of "
        f"{_words(whole)}. All {len(spans)} items took {_words(work)}."
    )


def _before(span: Span, spans: Sequence[Span], by_name: Mapping[str, Span]) -> Span | None:
    earlier = [each for each in spans if each.end <= span.start and each.start < span.start]
    sequence = by_name.get(_sequence_before(span.item))
    if sequence in earlier:
        return sequence
    return max(earlier, key=lambda each: (each.end, each.start, each.item), default=None)


def _sequence_before(item: str) -> str:
    """The item that this one follows by the recipe's order: G1 for G2, L1.1 for L1.2; else ""."""
    stage, _, name = item.partition("/")
    head = name.rstrip("0123456789")
    number = name[len(head) :]
    is_sampled = (stage == "global" and head == "G") or (stage == "local" and head.endswith("."))
    return f"{stage}/{head}{int(number) - 1}" if is_sampled and number else ""


def _words(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min"
