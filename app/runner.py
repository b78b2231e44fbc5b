"""One claimed run, from the checkout to the pull request.

checkout ─▶ status comment ─▶ resolve (pipeline) ─▶ publish ─▶ last words
"""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from app.admission.outcomes import seen_of
from app.failures import (
    DECLINED,
    EXPECTED,
    GIVEN_UP,
    NO_LONGER_ALLOWED,
    STILL_UNREACHABLE,
    failure_of,
    setup_failure_of,
)
from app.github.errors import GitHubError, PatchRefused, RateLimited, SecretInText
from app.github.mirror import Remote
from app.github.publisher import Author, Branch, Change, Published, publish
from app.github.recorder import Recorder
from app.github.source import MirrorSource, checkout
from app.github.status import StatusBoard
from app.index.background import run_index
from app.jobs.contract import Later, RunEnd
from app.ledger import outcomes, runs, snapshots
from app.ledger.budget import SqlBudget
from app.ledger.items import SqlJournal, list_spans
from app.ledger.records import SqlRecorder, recording
from app.ledger.runs import WAITING, Claim, Run
from app.ledger.snapshots import Snapshot
from app.messages import render, view
from app.messages.facts import Failure, PullRequestText, Removal, RunFacts, SetupFailure, Spent
from app.messages.page import run_page
from app.models import asked_models, caps_of, models_of
from app.pages.link import run_url
from app.services import open_model, run_config
from app.settings import Settings
from pipeline.choose.calibration import calibrate
from pipeline.choose.choice import choice_of
from pipeline.errors import KeyRefused, ModelUnavailable, NoEnvironment, RunRefused
from pipeline.model.gateway import Traffic
from pipeline.resolve import resolve
from pipeline.services import Services
from pipeline.timing import told
from pipeline.values import Decision, Task
from sandbox.base import Sandbox

if TYPE_CHECKING:
    from app.github.client import GitHubApp, GitHubRepo

PATIENCE_S = 4 * 3600.0  # how old a run may get that waits for something outside

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Runner:
    """What every run of this worker shares."""

    settings: Settings
    engine: AsyncEngine
    github: "GitHubApp"
    sandbox: Sandbox
    traffic: Traffic = field(default_factory=Traffic)

    async def __call__(self, claim: Claim) -> RunEnd:
        """Work on a claimed run until its end (an app.jobs.contract.RunBody).

        What people should know ends in the status comment. ConnectionErrors are passed on: the
        run is given back and goes on later from its journal.
        """
        snapshot = await snapshots.load(self.engine, claim.run.snapshot_id)
        assert snapshot is not None, "a run is created after its snapshot"
        async with self._at_work(claim, snapshot) as work:
            return await work.carry_out()

    @asynccontextmanager
    async def _at_work(self, claim: Claim, snapshot: Snapshot) -> AsyncIterator["_Work"]:
        run = claim.run
        place = (run.installation_id, run.repository_id, run.repository)
        async with self.github.repository(*place, "talk") as repo:
            recorder = Recorder(self.engine, run.id, claim.epoch)
            journal = SqlJournal(self.engine, run.id, claim.epoch)
            budget = SqlBudget(self.engine, run.id, claim.epoch, caps_of(self.settings))
            facts = _facts(self, run, snapshot)
            board = StatusBoard(
                repo,
                recorder,
                run.issue_number,
                lambda stages, usage: render.status(facts, stages, usage, _elapsed(run)),
                budget.spent,
            )
            try:
                await board.open()
                yield _Work(self, claim, snapshot, repo, facts, recorder, journal, budget, board)
            finally:
                await board.close()


@dataclass(frozen=True, slots=True)
class _Work:
    """One run at work under one claim."""

    runner: Runner
    claim: Claim
    snapshot: Snapshot
    repo: "GitHubRepo"
    facts: RunFacts
    recorder: Recorder
    journal: SqlJournal
    budget: SqlBudget
    board: StatusBoard

    @property
    def run(self) -> Run:
        return self.claim.run

    async def carry_out(self) -> RunEnd:
        """Resolve and publish; expected failures become words on the issue and a final state."""
        if self.claim.is_exhausted:
            return await self._fail(GIVEN_UP)
        try:
            self._require_provider()
            source = await self._checkout()
            decision = await self._resolve(source)
            await self._store_page(decision)
            if decision.outcome == "no_patch":
                return await self._abstain(decision)
            return await self._publish(source, decision)
        except (ConnectionError, RateLimited, KeyRefused) as error:
            if _elapsed(self.run) > PATIENCE_S:
                return await self._fail(replace(STILL_UNREACHABLE, cause=str(error)))
            await self._tell_waiting(error)
            if isinstance(error, ModelUnavailable | KeyRefused):
                raise Later(error.wait_s, str(error), WAITING) from error
            raise  # not now: the run is given back
        except EXPECTED as error:
            log.warning("run failed", run_id=self.run.id, error=str(error))
            return await self._explain(error)

    def _require_provider(self) -> None:
        """While it is known that no model answers, nothing is begun."""
        settings = self.runner.settings
        names = (models_of(settings).default, settings.fallback_model)
        self.runner.traffic.circuits.check(*filter(None, names))

    async def _explain(self, error: Exception) -> RunEnd:
        """Words on the issue for what people can do something about."""
        if isinstance(error, PatchRefused):
            return await self._refuse(error)
        if isinstance(error, RunRefused):
            return await self._fail(DECLINED, "refused")
        if isinstance(error, NoEnvironment):
            return await self._no_environment(setup_failure_of(error))
        return await self._fail(failure_of(error))

    async def _checkout(self) -> MirrorSource:
        runner, run = self.runner, self.run
        token = await runner.github.token(run.installation_id, run.repository_id, "read")
        now = await self.repo.info()  # the name as it is now: renames since admission are followed
        remote = Remote(runner.settings.github_url, now.full_name, token)
        return await checkout(
            runner.settings.data_dir,
            run.installation_id,
            run.repository_id,
            remote,
            run.base_branch,
            run.base_commit,
        )

    async def _resolve(self, source: MirrorSource) -> Decision:
        runner, run = self.runner, self.run
        task = Task(
            run.repository,
            run.issue_number,
            self.snapshot.title,
            self.snapshot.body,
            source.base_commit,
        )
        ended = await outcomes.finished(runner.engine, run.installation_id)
        async with (
            self._recording() as recorder,
            open_model(runner.settings, self.budget, run.id, recorder, runner.traffic) as model,
            run_index(runner.settings.data_dir, source) as index,
        ):
            services = Services(
                run=run.id,
                model=model,
                sandbox=runner.sandbox,
                source=source,
                journal=self.journal,
                budget=self.budget,
                progress=self.board,
                config=run_config(runner.settings),
                index=index,
                recorder=recorder,
                calibration=calibrate(ended),
            )
            if run.generation > 1:  # a person asks again: what failed lately is tried again
                await runner.sandbox.forget_failures(source.repository)
            return await resolve(task, services, runner.settings.recipe)

    @asynccontextmanager
    async def _recording(self) -> AsyncIterator[SqlRecorder | None]:
        """Records of the run in the ledger, None when the operator wants none."""
        runner = self.runner
        if not runner.settings.record:
            yield None
            return
        limit = int(runner.settings.record_mb * 1_000_000)
        async with recording(runner.engine, self.run.id, self.claim.epoch, limit) as recorder:
            yield recorder

    async def _publish(self, source: MirrorSource, decision: Decision) -> RunEnd:
        """The way out: permission again, policy, commit, branch, pull request."""
        runner, run = self.runner, self.run
        await runs.set_stage(runner.engine, run.id, self.claim.epoch, "publish", "publishing")
        item = await self.journal.start("publish", "pull_request")
        usage, costs = await self.budget.spent(), await self.budget.stages()
        title = render.pull_request_title(self.facts, decision)
        change = Change(
            run_id=run.id,
            issue_number=run.issue_number,
            branch=run.branch,
            base_branch=run.base_branch,
            base_commit=source.base_commit,
            patch=decision.patch,
            subject=title,
            issue_author=Author(self.snapshot.author, self.snapshot.author_id),
        )

        def compose(branch: Branch) -> PullRequestText:
            return render.pull_request(
                self.facts,
                decision,
                usage,
                _elapsed(run),
                moved_from=branch.moved_from,
                ci_held=branch.ci_held,
                held=branch.held,
                costs=costs,
            )

        published = await self._send(source, change, compose)
        if published is None:
            return await self._fail(NO_LONGER_ALLOWED)
        await self._note_delivered(published, decision)
        number = published.pull.number
        reference = {"number": number, "branch": published.branch.name}
        if not item.finished:
            await self.journal.finish("publish", "pull_request", reference)
        await self.board.finish(render.opened(self.facts, number, decision, usage, _elapsed(run)))
        return RunEnd("done", f"Pull request #{number}: {published.pull.url}")

    async def _note_delivered(self, published: Published, decision: Decision) -> None:
        """A row for what people will make of it; a run taken over finds it there."""
        choice, head = choice_of(decision), published.branch.commit
        if choice is not None:
            of_run = (self.runner.engine, self.run.id, self.claim.epoch)
            await outcomes.deliver(*of_run, head, seen_of(published.pull), choice)

    async def _store_page(self, decision: Decision) -> None:
        """Keep what the run page shows; a text with a secret is not kept, and the run goes on."""
        item = await self.journal.start("publish", "page")
        if item.finished:
            return
        usage, costs = await self.budget.spent(), await self.budget.stages()
        timing = told(await list_spans(self.runner.engine, self.run.id))
        spent = Spent(usage, _elapsed(self.run), costs, timing)
        try:
            html = run_page(self.facts, decision, spent, self.repo.check)
        except SecretInText:
            html = "<p>The page is not shown: it would hold a secret.</p>"
        await self.journal.finish("publish", "page", {"html": html})

    async def _send(
        self, source: MirrorSource, change: Change, compose: Callable[[Branch], PullRequestText]
    ) -> Published | None:
        """Publish with a token of its own; None when the requester may not write any more."""
        run = self.run
        place = (run.installation_id, run.repository_id, run.repository)
        async with self.runner.github.repository(*place, "publish") as repo:
            permission = await repo.permission(run.requested_by)
            if permission is None or not permission.lets_write(run.requested_by_id):
                return None
            return await publish(repo, self.recorder, source.mirror, change, compose)

    async def _abstain(self, decision: Decision) -> RunEnd:
        usage = await self.budget.spent()
        if decision.out_of_budget:
            text = render.budget_reached(self.facts, decision, usage, _elapsed(self.run))
            await self.board.finish(text)
            return RunEnd("budget_exhausted", f"Budget reached. {view.written(decision)}")
        text = render.no_patch(self.facts, decision, usage, _elapsed(self.run))
        await self.board.finish(text)
        return RunEnd("no_fix", f"No confident patch. {decision.ballot.rule}")

    async def _refuse(self, error: PatchRefused) -> RunEnd:
        usage = await self.budget.spent()
        text = render.refused(self.facts, error.reasons, usage, _elapsed(self.run))
        await self.board.finish(text)
        return RunEnd("rejected", f"Refused by the patch policy: {' '.join(error.reasons)}")

    async def _no_environment(self, failure: SetupFailure) -> RunEnd:
        usage, elapsed_s = await self.budget.spent(), _elapsed(self.run)
        try:
            await self.board.finish(render.no_environment(self.facts, failure, usage, elapsed_s))
        except SecretInText as error:  # what a set-up printed may hold a token: tell the rest
            bare = replace(failure, cause=str(error), line="", agent="", log="")
            await self.board.finish(render.no_environment(self.facts, bare, usage, elapsed_s))
        return RunEnd("no_environment", f"No environment. {failure.cause}")

    async def _tell_waiting(self, error: Exception) -> None:
        usage = await self.budget.spent()
        text = render.waiting(self.facts, str(error), usage, _elapsed(self.run))
        with suppress(GitHubError):  # it may be GitHub that does not answer
            await self.board.finish(text)

    async def _fail(self, failure: Failure, state: str = "failed") -> RunEnd:
        usage = await self.budget.spent()
        try:
            await self.board.finish(render.failed(self.facts, failure, usage, _elapsed(self.run)))
        except SecretInText as error:  # a command's log may hold a token: tell the rest
            kept = "What happened is in the ledger."
            bare = replace(failure, cause=str(error), kept=kept, log="")
            await self.board.finish(render.failed(self.facts, bare, usage, _elapsed(self.run)))
        return RunEnd(state, f"{failure.phase}: {failure.cause}")


def _elapsed(run: Run) -> float:
    return max(0.0, time.time() - run.created_at)


def _facts(runner: Runner, run: Run, snapshot: Snapshot) -> RunFacts:
    settings = runner.settings
    live = tuple(asked_models(settings))
    models = ("scripted",) if settings.model_is_local else live
    return RunFacts(
        run_id=run.id,
        repository=run.repository,
        issue_number=run.issue_number,
        requested_by=run.requested_by,
        base_branch=run.base_branch,
        base_commit=run.base_commit,
        budget_usd=run.budget_usd,
        isolation=runner.sandbox.isolation,
        generation=run.generation,
        recipe=settings.recipe,
        models=tuple(dict.fromkeys(name for name in models if name)),
        scripted_model=settings.model_is_local,
        snapshot_sha256=snapshot.sha256,
        removed=tuple(Removal(**entry) for entry in snapshot.removed),
        label=settings.label,
        page_url=run_url(settings, run.id),
    )
