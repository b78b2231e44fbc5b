"""The entry of the pipeline: a task, services and a recipe give a Decision."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from pipeline.ballot import calibration_in
from pipeline.configured import configured
from pipeline.environment.prepare import Prepared, prepare_environment
from pipeline.errors import EmptyRepository
from pipeline.explore.locate import code_search, likely_places
from pipeline.explore.state import Exploration
from pipeline.jsonable import to_json
from pipeline.notes import about_repository, environment_note
from pipeline.recipes.prism import prism
from pipeline.services import Services
from pipeline.values import Decision, Task

RECIPES: dict[str, Callable[[Exploration], Awaitable[Decision]]] = {"prism": prism}


async def resolve(task: Task, services: Services, recipe: str = "prism") -> Decision:
    """Prepare the repository, run the recipe, return what was decided and why.

    Raises EmptyRepository, NoEnvironment, ModelRejected, ModelUnavailable and the sandbox's errors;
    everything else that can go wrong ends in a Decision. Items the journal has finished are not
    repeated.
    """
    if not await services.source.files():
        raise EmptyRepository(f"{task.repository} has no file at {task.base_commit[:12]}.")
    services = replace(services, config=await configured(services.source, services.config))
    prepared, services = await _prepare(task, services)
    environment = prepared.environment
    async with services.sandbox.workspace(environment, "explore", services.run) as workspace:
        about = about_repository(environment)
        code = await code_search(services)
        places = await likely_places(code, task)
        x = Exploration(task, services, environment, workspace, about, code, places)
        decision = await RECIPES[recipe](x)
    return replace(decision, untested=prepared.untested, pin=prepared.pin)


async def _prepare(task: Task, services: Services) -> tuple[Prepared, Services]:
    """The environment, built once per plan and commit by the sandbox; the journal notes it.

    A calibration stays the one that the run began with, however many outcomes come meanwhile.
    """
    record = await services.journal.start("environment", "environment")
    prepared = await prepare_environment(services, f"{task.title}\n{task.body}")
    environment = prepared.environment
    if record.finished:
        services = replace(services, calibration=calibration_in(record.output))
    else:
        summary = {
            "reference": environment.reference,
            "note": environment_note(environment),
            "has_suite": bool(environment.stable_passes),  # these three: what `replay` votes with
            "config": to_json(services.config),
            "calibration": services.calibration and to_json(services.calibration),
        }
        await services.journal.finish("environment", "environment", summary)
    await services.progress.update("environment", 1, 1, environment_note(environment))
    return prepared, services
