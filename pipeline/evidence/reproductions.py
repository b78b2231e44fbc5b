"""Which of the candidates' tests really show the bug. Source: method.md §2.3.6.

A reproduction counts only when it fails on the base commit, twice, as a test: not because it
could not be imported, collected or set up.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial

from pipeline.choose.order import natural
from pipeline.evidence.policy import check_patch
from pipeline.evidence.policy_paths import held_path, is_test_file, is_test_path
from pipeline.evidence.runs import failing
from pipeline.items import side_by_side
from pipeline.values import Candidate, Reproduced, Reproduction
from sandbox.base import TestRun, Workspace
from sandbox.errors import EngineUnavailable, NotAllowed, SandboxError
from sandbox.patch.patch import PatchError, combine

OpenWorkspace = Callable[[], AbstractAsyncContextManager[Workspace]]
RUNS = 2


@dataclass(frozen=True, slots=True)
class Validation:
    """The validated reproductions, and one sentence for each that was turned down."""

    validated: tuple[Reproduced, ...]
    rejected: tuple[str, ...]


def collect(candidates: Iterable[Candidate]) -> tuple[Reproduction, ...]:
    """The pool's reproductions, authors in natural order, one of each text.

    Of equal texts the first author's stays: to the vote, the others who wrote the same test and
    pass it are second opinions.
    """
    found: dict[str, Reproduction] = {}
    for candidate in sorted(candidates, key=lambda each: natural(each.id)):
        for reproduction in candidate.reproductions:
            found.setdefault(reproduction.text.strip(), reproduction)
    return tuple(found.values())


def reproduction_id(reproduction: Reproduction) -> str:
    """`author:path`, unique within a pool."""
    return f"{reproduction.author}:{reproduction.path}"


def unsuitable(reproduction: Reproduction, existing: Collection[str]) -> str | None:
    """Why a reproduction may not even be tried, None when it may. Pure.

    It must be a new file that a runner collects, and pass the patch policy on its own.
    """
    path = reproduction.path
    if path.casefold() in {other.casefold() for other in existing}:
        return "a file of this name exists already"
    if held_path(path) or not (is_test_path(path) or is_test_file(path)):
        return "its name is not one of a test file"
    if path.endswith(".py") and not is_test_file(path):
        return "its name is not one that a test runner collects"
    if not reproduction.text.strip():
        return "it is empty"
    try:
        verdict = check_patch(combine("", {path: reproduction.text}))
    except (PatchError, UnicodeEncodeError):
        return "it is not text"
    return verdict.refused[0] if verdict.refused else None


async def validate(
    reproductions: Sequence[Reproduction],
    open_workspace: OpenWorkspace,
    existing: Collection[str],
    runner: str,
    limit: int = 1,
) -> Validation:
    """Run each reproduction twice on the base and keep those that show the bug, in their order.

    `open_workspace` gives a fresh workspace at the base, `existing` are the base's files,
    `runner` the plan's. Costs one workspace and up to two test runs per reproduction, `limit`
    side by side; the tree is put back before each run.
    """

    async def one(each: Reproduction) -> Reproduced | str:
        if reason := unsuitable(each, existing):
            return f"was not tried: {reason.rstrip('.')}"
        try:
            async with open_workspace() as workspace:
                return await _validate_one(each, workspace, await workspace.snapshot(), runner)
        except EngineUnavailable:
            raise
        except SandboxError as error:
            return f"left a workspace that cannot be used ({error})"

    found = await side_by_side(limit, [partial(one, each) for each in reproductions])
    return Validation(
        tuple(each for each in found if isinstance(each, Reproduced)),
        tuple(
            f"{reproduction_id(each)} {said}."
            for each, said in zip(reproductions, found, strict=True)
            if isinstance(said, str)
        ),
    )


async def run_reproduction(
    reproduction: Reproduction, workspace: Workspace, snapshot: str
) -> TestRun:
    """Run one reproduction on a tree put back to `snapshot`."""
    await workspace.restore(snapshot)
    await workspace.write(reproduction.path, reproduction.text)
    return await workspace.test((reproduction.path,))


async def _validate_one(
    reproduction: Reproduction, workspace: Workspace, base: str, runner: str
) -> Reproduced | str:
    seen: list[frozenset[str]] = []
    for _ in range(RUNS):
        try:
            run = await run_reproduction(reproduction, workspace, base)
        except NotAllowed as error:
            return f"could not be written ({error})"
        if reason := _no_failure(run, runner):
            return reason
        seen.append(failing(run, runner)[0])
    if len(set(seen)) > 1:
        return "fails differently in two runs on the base commit"
    return Reproduced(reproduction_id(reproduction), reproduction, tuple(sorted(seen[0])))


def _no_failure(run: TestRun, runner: str) -> str:
    """Why a run on the base does not show the bug, "" when it does."""
    if run.timed_out:
        return "did not end in time on the base commit"
    if not run.results or not run.structured:
        return "gave no verdict per test on the base commit"
    failed, errors = failing(run, runner)
    if errors:
        return "cannot be collected or set up on the base commit"
    return "" if failed else "passes on the base commit"
