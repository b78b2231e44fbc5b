"""From a repository to an environment: what was decided, an agent where that fails, or a clear no.

declared or detected plan ─▶ set-up and tests ─▶ set-up agent ─▶ without tests, if allowed ─▶ end
"""

from dataclasses import dataclass, replace

from pipeline.environment.agent import Found, find_setup
from pipeline.environment.pin import pinned
from pipeline.environment.spec import plan_of
from pipeline.environment.trial import Trial, Trouble, try_plan
from pipeline.errors import NoEnvironment
from pipeline.items import step
from pipeline.services import Services
from sandbox.base import Environment, EnvironmentPlan
from sandbox.environment.config import RepositoryConfig, read_config
from sandbox.environment.plan import make_plan

WITHOUT_SETUP = "no set-up"
MAX_NAMED = 20


@dataclass(frozen=True, slots=True)
class Prepared:
    """An environment and what people should know of it.

    `untested` says why no test of the repository speaks for a patch, "" when tests do. `pin` is
    the text for `.github/prism.yml` that keeps what the set-up agent found, "" without one.
    """

    environment: Environment
    untested: str = ""
    pin: str = ""


@dataclass(frozen=True, slots=True)
class _Tried:
    """What the journal keeps of the first plan: None when its tests run."""

    trouble: Trouble | None


async def prepare_environment(services: Services, issue: str = "") -> Prepared:
    """The environment of the run, built once per plan and commit by the sandbox.

    Files that the text of the issue names choose between the projects of a monorepo.

    A plan that fails is not tried again by a later attempt of the run, nor is the agent asked
    twice. Raises NoEnvironment when the set-up fails and `env.untested` does not allow going on.
    """
    config = await read_config(services.source)
    plan = await make_plan(services.source, await _named_files(services, issue))
    await services.progress.update("environment", 0, 1, plan.origin)
    trial = await _first(services, plan)
    if trial.trouble is None and trial.environment is not None:
        return Prepared(trial.environment)
    trouble = trial.trouble or Trouble("No test command was found.")
    found = None if _is_pinned(config) else await _ask_agent(services, plan, trouble)
    if found is not None and found.spec is not None:
        better = plan_of(found.spec, plan)
        environment = await services.sandbox.prepare(services.source, better, services.run)
        return Prepared(environment, pin=pinned(better))
    return await _without_tests(services, plan, trial, trouble, config, agent_words(found))


async def _named_files(services: Services, issue: str) -> tuple[str, ...]:
    """Files of folders whose path stands in the issue, in the order of the paths."""
    if not issue:
        return ()
    files = await services.source.files()
    return tuple(path for path in files if "/" in path and path in issue)[:MAX_NAMED]


async def _first(services: Services, plan: EnvironmentPlan) -> Trial:
    """Try the plan; one that failed in an earlier attempt of this run is not repeated."""
    fresh: list[Trial] = []

    async def work(_attempt: int) -> _Tried:
        fresh.append(await try_plan(services, plan))
        return _Tried(fresh[0].trouble)

    tried = await step(services.journal, "environment", "plan", _Tried, work)
    if fresh:
        return fresh[0]
    if tried.trouble is not None and tried.trouble.is_setup:
        return Trial(None, tried.trouble)
    environment = await services.sandbox.prepare(services.source, plan, services.run)
    return Trial(environment, tried.trouble)


async def _ask_agent(services: Services, plan: EnvironmentPlan, trouble: Trouble) -> Found:
    await services.progress.update("environment", 0, 1, "asking the set-up agent")
    return await find_setup(services, plan, trouble)


async def _without_tests(
    services: Services,
    plan: EnvironmentPlan,
    trial: Trial,
    trouble: Trouble,
    config: RepositoryConfig,
    agent: str,
) -> Prepared:
    """Go on with what there is, or end; a set-up that failed needs `env.untested` to go on."""
    untested = " ".join(part for part in (trouble.summary, agent) if part)
    if trial.environment is not None:
        return Prepared(trial.environment, untested)
    if not config.untested:
        raise NoEnvironment(
            trouble.summary,
            line=trouble.line,
            exit_code=trouble.exit_code,
            log=trouble.log,
            denied=trouble.denied,
            origin=plan.origin,
            agent=agent,
        )
    bare = replace(plan, setup=(), test="", packages=(), image="", origin=WITHOUT_SETUP)
    environment = await services.sandbox.prepare(services.source, bare, services.run)
    return Prepared(environment, untested)


def _is_pinned(config: RepositoryConfig) -> bool:
    """Whether people have written down how it is done: then nothing else is tried."""
    return config.setup is not None or bool(config.test)


def agent_words(found: Found | None) -> str:
    """How the set-up agent ended without a set-up, in one sentence; "" when it was not asked."""
    if found is None:
        return ""
    if found.exit_status == "gave_up":
        return f"The set-up agent gave up: {found.reason}"
    words = {
        "refused": "the model declined",
        "budget": "the budget is used up",
        "rejected": f"{len(found.rejected)} set-ups did not replay",
        "lost": f"its container was lost ({found.reason})",
    }.get(found.exit_status, found.exit_status)
    return f"The set-up agent found none after {found.commands} commands: {words}."
