"""Base tests that the issue itself asks to change, named and checked.

Source: method.md §3.3.3. Two real fixes in our data change what an existing test asserts, so
losing no test cannot be the rule without exceptions. The Test agent reads the issue and the
tests, never a patch; everything it says is checked here, and what is excluded is named in the
pull request.
"""

import asyncio
import math
import re
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.choose.normalise import changed_units
from pipeline.errors import BudgetExhausted
from pipeline.evidence.near import near_tests
from pipeline.evidence.runs import file_of
from pipeline.evidence.shown import suite_block
from pipeline.index.errors import IndexingFailed
from pipeline.index.rank.proximity import nearest_tests
from pipeline.index.store import Index
from pipeline.items import step
from pipeline.model.ask import NO_ANSWER, ask
from pipeline.model.verdicts import ExclusionVerdict
from pipeline.prompts.blocks import issue_block
from pipeline.prompts.render import render
from pipeline.services import CallAddress, Services
from pipeline.values import Candidate, Exclusion, Task
from sandbox.base import Environment, Source
from sandbox.patch.patch import FilePatch, PatchError, apply, parse

MAX_SHARE = 0.10
MIN_QUOTE = 12
MAX_NEAR = 100_000  # test files: all that have any relation


@dataclass(frozen=True, slots=True)
class Excluded:
    """What the Test agent's answer comes to; `note` says why there is none, "" when there is."""

    exclusions: tuple[Exclusion, ...]
    note: str = ""


async def find_exclusions(
    services: Services, task: Task, environment: Environment, candidates: Iterable[Candidate]
) -> Excluded:
    """The tests that no candidate has to keep, each with the sentence of the issue that says so.

    One model call (journal item `verify/exclusions`); none when the base has no test that passes
    twice. The candidates play no part in the answer: they only narrow it to tests whose file
    mentions something that one of them edits, and, where there is an index, imports or uses it.
    Without an answer that can be used, or money for one, nothing is excluded, and the result's note
    says so.
    """
    wanted = environment.stable_passes
    if not wanted:
        return Excluded(())

    async def work(attempt: int) -> Excluded:
        return await _asked(services, task, wanted, attempt)

    found = await step(services.journal, "verify", "exclusions", Excluded, work)
    if not found.exclusions:
        return found
    pool = tuple(candidates)
    symbols = await edited_symbols(services.source, pool)
    files = await _test_files(services.source, found.exclusions)
    kept = related(found.exclusions, {test: text for test, (_, text) in files.items()}, symbols)
    apart = await _unrelated(services, pool, {files[each.test][0] for each in kept})
    left = tuple(each for each in kept if files[each.test][0] not in apart)
    return replace(found, exclusions=left)


def limit(tests: int) -> int:
    """How many of `tests` may be excluded at most: a tenth, rounded up."""
    return math.ceil(tests * MAX_SHARE)


def problem(verdict: ExclusionVerdict, task: Task, wanted: Collection[str]) -> str | None:
    """What is wrong with an answer in words for the model, None when nothing. Pure."""
    issue = _folded(f"{task.title}\n{task.body}")
    for each in verdict.exclusions:
        if not _named(each.test, wanted):
            return f"{each.test!r} is not one of the listed tests."
        if len(_folded(each.quote)) < MIN_QUOTE or _folded(each.quote) not in issue:
            return f"The quote for {each.test!r} does not stand in the issue word for word."
    count = len(_accepted(verdict, wanted))
    if count > limit(len(wanted)):
        return f"{count} tests are too many to leave out; at most {limit(len(wanted))} may be."
    return None


def related(
    exclusions: Iterable[Exclusion], files: Mapping[str, str], symbols: Collection[str]
) -> tuple[Exclusion, ...]:
    """Only the exclusions whose test file mentions one of `symbols`. Pure.

    `files` maps a test id to the text of its file; a test without one is not excluded.
    """
    kept = []
    for each in exclusions:
        words = set(re.findall(r"\w+", files.get(each.test, "")))
        if not words.isdisjoint(symbols):
            kept.append(each)
    return tuple(kept)


async def edited_symbols(source: Source, candidates: Iterable[Candidate]) -> frozenset[str]:
    """Names of what any candidate edits: functions, classes and modules, without dunders.

    Python files are compared by definition; in others the names come from the hunks' headings.
    """
    found: set[str] = set()
    for patch in {candidate.patch for candidate in candidates}:
        async for part, before, after in _parts(source, patch):
            for unit in changed_units(part.path, before, after):
                found |= set(unit.split("."))
            for hunk in part.hunks:
                found |= set(re.findall(r"[A-Za-z_]\w{2,}", hunk.section))
            found.add(part.path.rpartition("/")[2].partition(".")[0])
    return frozenset(name for name in found if name and not name.startswith("__")) - _COMMON


# Words of a hunk's heading that are no names.
_WORDS = (
    "def class async function const let var export default return static public private self this"
    " None import from index new"
)
_COMMON = frozenset(_WORDS.split())


async def _asked(services: Services, task: Task, wanted: frozenset[str], attempt: int) -> Excluded:
    prompt = render(
        "exclusions",
        issue=issue_block(task),
        tests=await suite_block(
            services.source, task, sorted(wanted), await near_tests(services, task)
        ),
    )
    try:
        verdict = await ask(
            services.model,
            CallAddress("verify", "exclusions", "exclusions", attempt),
            prompt,
            ExclusionVerdict,
            check=lambda answer: problem(answer, task, wanted),
        )
    except (*NO_ANSWER, BudgetExhausted) as error:  # what was written still gets its vote
        return Excluded((), f"No existing test was left out: {error}")
    return Excluded(_accepted(verdict, wanted))


def _accepted(verdict: ExclusionVerdict, wanted: Collection[str]) -> tuple[Exclusion, ...]:
    """One exclusion per test of the base; a name without parameters stands for all of them."""
    found: dict[str, Exclusion] = {}
    for each in verdict.exclusions:
        for test in _named(each.test, wanted):
            found.setdefault(test, Exclusion(test, each.quote, each.reason))
    return tuple(found[test] for test in sorted(found))


def _named(test: str, wanted: Collection[str]) -> tuple[str, ...]:
    if test in wanted:
        return (test,)
    return tuple(each for each in wanted if test and each.startswith(test + "["))


def _folded(text: str) -> str:
    """Words as they are, with single spaces: a quote may be wrapped in another way."""
    return " ".join(text.split())


async def _unrelated(
    services: Services, candidates: Sequence[Candidate], files: Collection[str]
) -> frozenset[str]:
    """Those of the test files that the index knows, and in which it sees nothing edited."""
    index = await services.index.opened() if services.index is not None else None
    if index is None or not files:
        return frozenset()
    edits = await edited_units(services.source, candidates)
    return await asyncio.to_thread(_apart, index, edits, files)


def _apart(index: Index, edits: Collection[str], files: Collection[str]) -> frozenset[str]:
    try:
        apart = set(files) - set(nearest_tests(index, edits, MAX_NEAR))
        rows = filter(None, map(index.file, sorted(apart)))
        return frozenset(row.path for row in rows if row.is_test and row.row and not row.degraded)
    except IndexingFailed:
        return frozenset()


async def edited_units(source: Source, candidates: Iterable[Candidate]) -> frozenset[str]:
    """What any candidate edits as the index names it: `path:Qual.Name`, else `path`."""
    found: set[str] = set()
    for patch in {candidate.patch for candidate in candidates}:
        async for part, before, after in _parts(source, patch):
            units = changed_units(part.path, before, after) - {""}
            found |= {f"{part.path}:{unit}" for unit in units} or {part.path}
    return frozenset(found)


async def _parts(
    source: Source, patch: str
) -> AsyncIterator[tuple[FilePatch, str | None, str | None]]:
    """Each file of a patch with its text before and after; what does not apply is left out."""
    try:
        parts = parse(patch)
    except PatchError:
        return
    for part in parts:
        data = await source.read(part.path)
        before = None if data is None else data.decode("utf-8", "surrogateescape")
        try:
            after = apply(part, before)
        except PatchError:
            continue
        yield part, before, after


async def _test_files(
    source: Source, exclusions: Iterable[Exclusion]
) -> dict[str, tuple[str, str]]:
    """Path and text of the file of each test."""
    files = frozenset(await source.files())
    texts = {}
    for each in exclusions:
        path = file_of(each.test, files)
        data = await source.read(path) if path else None
        if path and data is not None:
            texts[each.test] = path, data.decode("utf-8", "replace")
    return texts
