"""What a run's calls cost, beside twelve agents that work alone. Pure, over the emulator's log.

Tokens are billed in units of the plain input price: 1 for what is sent anew, the price table's
factors for what is written to the cache or read from it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.model.prices import price_of

Json = Any


@dataclass(frozen=True, slots=True)
class Call:
    """One answered call: where, and its input by how it was billed. `hour` is part of written."""

    stage: str
    item: str
    turn: str
    model: str
    fresh: int
    written: int
    hour: int
    read: int
    output: int

    @property
    def input(self) -> int:
        """All input tokens."""
        return self.fresh + self.written + self.read

    @property
    def billed(self) -> float:
        """Input as it is billed, in tokens at the plain input price."""
        return price_of(self.model).input_units(self.fresh, self.written, self.read, self.hour)

    @property
    def is_agent(self) -> bool:
        """Whether it is an agent's turn: those have numbers, single verdicts have words."""
        return self.turn.rpartition(".")[2].isdigit()


@dataclass(frozen=True, slots=True)
class Account:
    """Ours and that of twelve agents alone, every token of theirs billed in full.

    `alone` are their own turns, `script` these and the same verdicts as ours.
    """

    calls: int
    input: int
    read: int
    written: int
    billed: float
    usd: float
    alone_calls: int
    alone: int
    script: int

    @property
    def cached_share(self) -> float:
        """Input tokens read from the cache over all input tokens."""
        return self.read / self.input if self.input else 0.0

    @property
    def billed_share(self) -> float:
        """Our billed input over that of the same script with caching off and no forks."""
        return self.billed / self.script if self.script else 0.0

    @property
    def strict_share(self) -> float:
        """Our billed input, verdicts included, over their own turns alone."""
        return self.billed / self.alone if self.alone else 0.0


def read_calls(log: Iterable[Json]) -> list[Call]:
    """The answered calls of the emulator's log, in order of arrival."""
    found = []
    for entry in log:
        if entry["status"] != 200:
            continue
        stage, item, turn = entry["address"].split("/")
        usage = entry["usage"]
        found.append(
            Call(
                stage,
                item,
                turn,
                entry["model"],
                usage["input_tokens"],
                usage["cache_creation_input_tokens"],
                usage["cache_creation"]["ephemeral_1h_input_tokens"],
                usage["cache_read_input_tokens"],
                usage["output_tokens"],
            )
        )
    return found


def account(calls: Sequence[Call], kept: Mapping[str, tuple[str, int]]) -> Account:
    """Both sides. `kept` tells of each local branch its parent and how many turns it kept.

    An agent alone plans and codes by itself: the planner's turns of a global candidate; for a
    local one the kept turns of its parent, made again, and its own; of all of them the coder's.
    Nothing is read from a cache. Verdicts, guides and reviews are counted in `script` only.
    """
    turns: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for call in calls:
        if call.is_agent:
            turns[call.stage, call.item].append(call)
    alone = [call for (stage, _), found in turns.items() if stage in _ALONE for call in found]
    for parent, count in kept.values():
        alone += turns["global", parent][:count]
    verdicts = [call for call in calls if not call.is_agent]
    return Account(
        calls=len(calls),
        input=sum(call.input for call in calls),
        read=sum(call.read for call in calls),
        written=sum(call.written for call in calls),
        billed=sum(call.billed for call in calls),
        usd=sum(
            price_of(c.model).cost(c.fresh, c.written, c.read, c.output, c.hour) for c in calls
        ),
        alone_calls=len(alone),
        alone=sum(call.input for call in alone),
        script=sum(call.input for call in (*alone, *verdicts)),
    )


_ALONE = ("global", "local", "code")


def by_stage(calls: Sequence[Call]) -> dict[str, Account]:
    """Our side for each stage; agents and verdicts of a stage are apart."""
    parts: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        parts[f"{call.stage} {'agents' if call.is_agent else 'verdicts'}"].append(call)
    return {name: account(part, {}) for name, part in parts.items()}


def critical_path(calls: Sequence[Call], workers: int) -> int:
    """Model calls one after the other until the vote, with `workers` agents at once.

    Globals and the branches of one parent follow each other; a synthesis has two reviews side by
    side and a judge; coders start in order as places become free.
    """
    count: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for call in calls:
        count[call.stage][call.item] += 1
    families: dict[str, int] = defaultdict(int)
    for item, made in count["local"].items():
        families[item.partition(".")[0]] += made
    syntheses = [max(0, made - 1) for made in count["synthesis"].values()]
    return (
        sum(count["global"].values())
        + _scheduled(families.values(), workers)
        + _scheduled(syntheses, workers)
        + _scheduled(count["code"].values(), workers)
        + max(count["verify"].values(), default=0)
    )


def _scheduled(work: Iterable[int], workers: int) -> int:
    """When the last of some pieces of work ends, each started where a place is free first."""
    places = [0] * max(1, workers)
    for length in work:
        first = places.index(min(places))
        places[first] += length
    return max(places)
