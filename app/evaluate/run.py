"""`prism eval`: the recipe on every instance of a file, one after the other, resumable.

instances ─▶ source at the base commit ─▶ resolve (journal of its own) ─▶ prediction
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click
from rich.console import Console

from app.evaluate.instances import BadRow, Instance, read_instances
from app.evaluate.results import (
    Lines,
    prediction,
    result_of,
    result_row,
    results_in,
    summary,
)
from app.fix import ScreenProgress, resolve_local, run_name
from app.github.errors import MirrorFailed
from app.github.mirror import Mirror, Remote, fetch_commit
from app.github.source import MirrorSource, local_source
from app.messages.characters import without_invisible
from app.messages.confidence import how_sure
from app.models import caps_of
from app.settings import Settings, SettingsError, require_data_dir
from pipeline.errors import (
    EmptyRepository,
    JournalOfAnotherRun,
    MalformedAnswer,
    ModelRefused,
    NoEnvironment,
    PromptTooLong,
)
from pipeline.journal import JsonLinesJournal
from pipeline.values import Decision, Task, Usage
from sandbox.errors import EngineUnavailable, SandboxError

ALL_RUN, SOME_LEFT = 0, 1
_SCREEN = Console(stderr=True)


# These concern one instance; every other error would be met by the next one as well.
_ONE_INSTANCE = (
    *(MirrorFailed, EmptyRepository, NoEnvironment, SandboxError),
    *(ModelRefused, MalformedAnswer, PromptTooLong, JournalOfAnotherRun),
)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What `prism eval` is asked for.

    `state` keeps a journal per instance and results.jsonl. Repositories are bare mirrors
    `owner__name.git` (or clones `owner__name`) in `repos`, and fetched from `host` into `state`
    where there is none; "" fetches nothing. `total_usd` bounds all instances, 0 is no bound.
    """

    instances: Path
    predictions: Path
    state: Path
    repos: Path | None
    host: str
    model_name: str
    only: tuple[str, ...] = ()
    total_usd: float = 0.0
    recorded: bool = False


def run_evaluation(settings: Settings, wanted: Evaluation) -> int:
    """Run what is not finished yet; 0 when every row of the file has its prediction, else 1.

    A problem of one instance is said and the next one goes on. Raises SettingsError for options
    that cannot work, and what would befall every instance: a key that is refused, an engine that
    is away, a model API that does not answer.
    """
    if wanted.host and not wanted.host.startswith(("https://", "http://")):
        raise SettingsError("--fetch-from must be an address like https://github.com.")
    instances, bad = _chosen(wanted)
    require_data_dir(settings)
    wanted.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    predictions, results = Lines(wanted.predictions), Lines(wanted.state / "results.jsonl")
    run = _Run(settings, wanted, predictions, results)
    problems = [f"{each.name}: {each.reason}" for each in bad]
    left = [each for each in instances if each.instance_id not in predictions.rows]
    done = len(instances) - len(left)
    if done:
        _say(f"{done} of {len(instances)} instances are finished already.")
    for number, instance in enumerate(left, done + 1):
        if not run.affords(instance):
            problems.append(
                f"{len(instances) - number + 1} instances: what is left of ${wanted.total_usd:g} "
                f"is less than one may cost (${settings.budget_usd:g})."
            )
            break
        _say(f"[{number}/{len(instances)}] {instance.instance_id}")
        try:
            _say(run.one(instance))
        except _ONE_INSTANCE as error:
            if isinstance(error, EngineUnavailable):
                raise
            problems.append(f"{instance.instance_id}: {error}")
            _say(f"    failed: {error}")
    _say(summary(results_in(results), len(predictions.rows), problems))
    return SOME_LEFT if problems else ALL_RUN


@dataclass(frozen=True, slots=True)
class _Run:
    settings: Settings
    wanted: Evaluation
    predictions: Lines
    results: Lines
    spent: dict[str, float] = field(default_factory=dict)

    def affords(self, instance: Instance) -> bool:
        """Whether an instance can use its whole budget: one that was cut short says nothing."""
        if not self.wanted.total_usd:
            return True
        finished: float = sum(row["cost_usd"] for row in self.results.rows.values())
        begun = sum(usd for name, usd in self._begun().items() if name != instance.instance_id)
        return finished + begun + self.settings.budget_usd <= self.wanted.total_usd

    def _begun(self) -> dict[str, float]:
        """Dollars of the instances that have a journal and no result; each is read once."""
        for path in sorted(self.wanted.state.glob("journals/*.jsonl")):
            if path.stem not in {*self.results.rows, *self.spent}:
                self.spent[path.stem] = asyncio.run(JsonLinesJournal(path, 0.0).spent()).cost_usd
        return {name: usd for name, usd in self.spent.items() if name not in self.results.rows}

    def one(self, instance: Instance) -> str:
        """Resolve one instance and write it down; a line for the screen."""
        self.spent.pop(instance.instance_id, None)  # it grows, and is read again if it stays open
        with self._source(instance) as source:
            task = Task(instance.repo, None, instance.title, instance.body, source.base_commit)
            settings, path = self.settings, self._journal(instance)
            caps = caps_of(settings)
            journal = JsonLinesJournal(path, settings.budget_usd, run_name(task), caps)
            screen, recorded = ScreenProgress(_SCREEN), self.wanted.recorded
            work = resolve_local(settings, task, source, journal, screen, recorded=recorded)
            decision, usage = asyncio.run(work)
        self._write(instance, decision, usage)
        return _line(decision, usage)

    def _write(self, instance: Instance, decision: Decision, usage: Usage) -> None:
        """The prediction last: it says that the instance is finished."""
        name = instance.instance_id
        self.results.add(result_row(result_of(name, decision, usage)))
        self.predictions.add(prediction(name, self.wanted.model_name, decision))

    def _journal(self, instance: Instance) -> Path:
        return self.wanted.state / "journals" / f"{instance.instance_id}.jsonl"

    @contextmanager
    def _source(self, instance: Instance) -> Iterator[MirrorSource]:
        """The repository at the base commit: from `repos`, else from the host."""
        name = instance.repo.replace("/", "__")
        repos = self.wanted.repos
        folders = () if repos is None else (repos / f"{name}.git", repos / name)
        for folder in folders:
            if folder.is_dir():
                with local_source(folder, instance.base_commit) as source:
                    yield source
                return
        if not self.wanted.host:
            where = f"in {repos}" if repos else "and no --repos was named"
            raise MirrorFailed(f"There is no {name}.git {where}; nothing is fetched.")
        mirror = Mirror(self.wanted.state.absolute() / "mirrors" / f"{name}.git", f"eval/{name}")
        remote = Remote(self.wanted.host.rstrip("/"), instance.repo)
        asyncio.run(fetch_commit(mirror, remote, instance.base_commit))
        yield MirrorSource(mirror.key, instance.base_commit, mirror)


def _chosen(wanted: Evaluation) -> tuple[tuple[Instance, ...], tuple[BadRow, ...]]:
    """The rows of the file, or those that were asked for by id."""
    instances, bad = read_instances(wanted.instances)
    if not wanted.only:
        return instances, bad
    chosen = tuple(each for each in instances if each.instance_id in wanted.only)
    unknown = set(wanted.only) - {each.instance_id for each in chosen}
    if unknown:
        raise SettingsError(f"--only: {wanted.instances} has no {', '.join(sorted(unknown))}.")
    return chosen, ()


def _line(decision: Decision, usage: Usage) -> str:
    """How one instance ended: winner, agreement, confidence and cost."""
    ballot = decision.ballot
    cost = f"${usage.cost_usd:.2f}, {usage.calls} calls, {usage.cached_share:.0%} cached"
    if ballot.winner is None:
        return f"    no patch ({cost}). {ballot.rule}"
    first = ballot.clusters[0]
    band = f", confidence {how_sure(ballot.confidence)}" if ballot.confidence else ""
    votes = f"{first.votes} of {len(decision.candidates)} agree"
    return f"    {ballot.winner}: {votes} in {len(ballot.clusters)} groups{band} ({cost})"


def _say(text: str) -> None:
    click.echo(without_invisible(text)[0], err=True)
