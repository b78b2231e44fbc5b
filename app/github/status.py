"""The status comment while a run works: a `Progress` that edits one comment now and then."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import structlog

from app.github.comments import ensure_status_comment, run_marker
from app.github.errors import NotFound
from app.github.recorder import Recorder
from app.messages.facts import StageState
from pipeline.services import PipelineStage
from pipeline.values import Usage

if TYPE_CHECKING:
    from app.github.client import GitHubRepo

MIN_INTERVAL_S = 15.0

Render = Callable[[tuple[StageState, ...], Usage], str]
Spent = Callable[[], Awaitable[Usage]]

log = structlog.get_logger(__name__)


class StatusBoard:
    """Keeps the run's status comment up to date; `update` returns at once and never raises.

    Several updates within `min_interval_s` become one edit. Use `open`, then `finish` with the
    final text, which is the last edit.
    """

    def __init__(
        self,
        repo: "GitHubRepo",
        recorder: Recorder,
        issue_number: int,
        render: Render,
        spent: Spent,
        min_interval_s: float = MIN_INTERVAL_S,
    ) -> None:
        self._repo = repo
        self._recorder = recorder
        self._issue_number = issue_number
        self._render = render
        self._spent = spent
        self._min_interval_s = min_interval_s
        self._stages: dict[PipelineStage, StageState] = {}
        self._comment_id = 0
        self._edited_at = 0.0
        self._pending: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Find or make the comment; raises GitHubError and Fenced."""
        text = self._render((), await self._spent())
        comment = await ensure_status_comment(self._repo, self._recorder, self._issue_number, text)
        self._comment_id = comment.id
        self._edited_at = time.monotonic()

    async def update(self, stage: PipelineStage, done: int, total: int, note: str = "") -> None:
        """Note where a stage stands; the comment follows within the interval."""
        log.info("stage", run_id=self._recorder.run_id, stage=stage, state=f"{done}/{total}")
        known = self._stages.get(stage)
        note = note or (known.note if known else "")
        self._stages[stage] = StageState(stage, done, total, note)
        if self._comment_id and (self._pending is None or self._pending.done()):
            self._pending = asyncio.create_task(self._edit_soon())

    async def finish(self, text: str) -> None:
        """Write the final text over everything; raises GitHubError when it cannot be written."""
        await self.close()
        if not self._comment_id:
            await self.open()
        try:
            await self._edit(text)
        except NotFound:  # somebody deleted it: the end of a run is worth a new one
            await self.open()
            await self._edit(text)

    async def close(self) -> None:
        """Drop an edit that has not been made yet."""
        if self._pending is not None and not self._pending.done():
            self._pending.cancel()
            await asyncio.wait({self._pending})
        self._pending = None

    async def _edit_soon(self) -> None:
        due = self._edited_at + self._min_interval_s
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        try:
            await self._edit(self._render(tuple(self._stages.values()), await self._spent()))
        except Exception as error:  # noqa: BLE001 - the boundary of progress: never ends a run
            log.warning(
                "status comment not updated", run_id=self._recorder.run_id, error=str(error)
            )

    async def _edit(self, text: str) -> None:
        self._edited_at = time.monotonic()
        marker = run_marker(self._recorder.run_id)
        await self._repo.update_comment(self._comment_id, f"{marker}\n{text}")
