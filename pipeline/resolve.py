"""The entry of the pipeline: a task, services and a recipe give a Decision."""

from collections.abc import Awaitable, Callable

from pipeline.errors import EmptyRepository
from pipeline.explore.state import Exploration
from pipeline.notes import about_repository, environment_note
from pipeline.recipes.prism import prism
from pipeline.services import Services
from pipeline.values import Decision, Task
from sandbox.base import Environment
from sandbox.environment.plan import make_plan

RECIPES: dict[str, Callable[[Exploration], Awaitable[Decision]]] = {"prism": prism}


async def resolve(task: Task, services: Services, recipe: str = "prism") -> Decision:
    """Prepare the repository, run the recipe, return what was decided and why.

    Raises EmptyRepository, ModelRejected, ModelUnavailable and the sandbox's errors; everything
    else that can go wrong ends in a Decision. Items the journal has finished are not repeated.
    """
    if not await services.source.files():
        raise EmptyRepository(f"{task.repository} has no file at {task.base_commit[:12]}.")
    environment = await _prepare(services)
    async with services.sandbox.workspace(environment, "explore", services.run) as workspace:
        about = about_repository(environment)
        x = Exploration(task, services, environment, workspace, about)
        return await RECIPES[recipe](x)


async def _prepare(services: Services) -> Environment:
    """The environment, built once per plan and commit by the sandbox; the journal notes it."""
    record = await services.journal.start("environment", "environment")
    plan = await make_plan(services.source)
    await services.progress.update("environment", 0, 1, plan.origin)
    environment = await services.sandbox.prepare(services.source, plan, services.run)
    if not record.finished:
        summary = {"reference": environment.reference, "note": environment_note(environment)}
        await services.journal.finish("environment", "environment", summary)
    await services.progress.update("environment", 1, 1, environment_note(environment))
    return environment
