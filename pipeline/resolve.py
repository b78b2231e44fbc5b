"""The entry of the pipeline: a task, services and a recipe give a Decision."""

from collections.abc import Awaitable, Callable

from sandbox.environment.plan import make_plan

from pipeline.errors import EmptyRepository
from pipeline.explore.state import Exploration
from pipeline.recipes.prism import prism
from pipeline.services import Services
from pipeline.values import Decision, Task
from sandbox.base import Environment

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
    plan = await make_plan(services.source, services.config.env_setup, services.config.env_test)
    await services.progress.update("environment", 0, 1, plan.origin)
    environment = await services.sandbox.prepare(services.source, plan, services.run)
    if not record.finished:
        summary = {"reference": environment.reference, "note": environment_note(environment)}
        await services.journal.finish("environment", "environment", summary)
    await services.progress.update("environment", 1, 1, environment_note(environment))
    return environment


def environment_note(environment: Environment) -> str:
    """One line about the set-up and the suite before any change."""
    setup = "cached" if environment.cached else f"{environment.setup_s:.0f} s"
    return f"{environment.plan.origin}, {setup}; {baseline_note(environment)}"


def baseline_note(environment: Environment) -> str:
    """What the suite did before any change, in words."""
    if environment.baseline is None:
        return "no test command found"
    if not environment.baseline.results:
        return "the test suite gave no verdict before any change"
    failing = environment.baseline.with_status("fail") | environment.baseline.with_status("error")
    return (
        f"{len(environment.stable_passes)} tests pass, {len(failing)} fail before any change "
        f"(`{environment.plan.test}`, {environment.baseline.duration_s:.0f} s)"
    )


def about_repository(environment: Environment) -> str:
    """What agents are told: language, test command, and what the suite did before any change."""
    plan = environment.plan
    command = f"Tests are run by `{plan.test}`." if plan.test else "No test command was found."
    return f"Language: {plan.language}. {command} Before any change: {baseline_note(environment)}."
