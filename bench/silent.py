"""Progress of a run in a bench, where nobody watches."""

from pipeline.services import PipelineStage


class Silent:
    """A pipeline.services.Progress that says nothing."""

    async def update(self, stage: PipelineStage, done: int, total: int, note: str = "") -> None:
        """See pipeline.services.Progress."""
