"""From a repository to an environment: what was decided, an agent where that fails, or a clear no.

declared or detected plan ─▶ set-up and tests ─▶ set-up agent ─▶ without tests, if allowed ─▶ end

Where all tests do not end in time, those nearest to the issue are the tests.
"""

from dataclasses import dataclass, replace

from pipeline.environment.agent import Found, find_setup
from pipeline.environment.pin import pinned
from pipeline.environment.spec import plan_of
from pipeline.environment.trial import Trouble, missing_tests, try_plan
from pipeline.errors import NoEnvironment
from pipeline.evidence.subset import nearest_subset
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
class _Outcome:
    """What the journal keeps: why the plan gave no tests, and how the set-up agent ended."""

    trouble: Trouble | None
    found: Found | None


async def prepare_environment(services: Services, issue: str = "") -> Prepared:
    """The environment of the run, built once per plan and commit by the sandbox.

    Files that the text of the issue names choose between the projects of a monorepo. What was
    found is kept by the journal: after a crash neither a plan that failed is tried again nor the
    agent asked. Raises NoEnvironment when the set-up fails and `env.untested` does not allow
    going on; that is not kept, so that a later start tries again.
    """
    config = await read_config(services.source)
    plan = await make_plan(services.source, await _named_files(services, issue))
    await services.progress.update("environment", 0, 1, plan.origin)

    async def work(attempt: int) -> _Outcome:
        return await _decide(services, plan, config, issue, attempt)

    outcome = await step(services.journal, "environment", "setup", _Outcome, work)
    trouble, found = outcome.trouble, outcome.found
    untested, pin = "", ""
    if trouble is not None and found is not None and found.spec is not None:
        plan = plan_of(found.spec, plan)
        pin = pinned(plan)
    elif trouble is not None:
        untested = " ".join(part for part in (trouble.summary, agent_words(found)) if part)
        if trouble.is_setup:
            plan = replace(plan, setup=(), test="", packages=(), image="", origin=WITHOUT_SETUP)
    environment = await services.sandbox.prepare(services.source, plan, services.run)
    return Prepared(await nearest_subset(services, issue, environment), untested, pin)


async def _decide(
    services: Services, plan: EnvironmentPlan, config: RepositoryConfig, issue: str, attempt: int
) -> _Outcome:
    """Try the plan, then ask the agent; raises NoEnvironment when the run may not go on."""
    trial = await try_plan(services, plan)
    trouble = trial.trouble
    if trouble is not None and trial.environment is not None:
        trouble = missing_tests(await nearest_subset(services, issue, trial.environment))
    found: Found | None = None
    if trouble is not None and not _is_pinned(config):
        await services.progress.update("environment", 0, 1, "asking the set-up agent")
        found = await find_setup(services, plan, trouble, attempt)
    is_mended = found is not None and found.spec is not None
    if trouble is not None and trouble.is_setup and not is_mended and not config.untested:
        raise NoEnvironment(
            trouble.summary,
            line=trouble.line,
            exit_code=trouble.exit_code,
            log=trouble.log,
            denied=trouble.denied,
            origin=plan.origin,
            agent=agent_words(found),
        )
    return _Outcome(trouble, found)


async def _named_files(services: Services, issue: str) -> tuple[str, ...]:
    """Files of folders whose path stands in the issue, in the order of the paths."""
    if not issue:
        return ()
    files = await services.source.files()
    return tuple(path for path in files if "/" in path and path in issue)[:MAX_NAMED]


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
    }.get(found.exit_status, found.reason or found.exit_status)
    return f"The set-up agent found none after {found.commands} commands: {words}."
