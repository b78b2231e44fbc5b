"""Carry out a plan from scratch and say in words why it gave no tests."""

from dataclasses import dataclass

from pipeline.services import Services
from sandbox.base import Environment, EnvironmentPlan
from sandbox.errors import EngineUnavailable, NotAllowed, SandboxError, SetupFailed

LOG_KEPT = 6000


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a plan gave no tests.

    `line` is the set-up line that failed, "" when the set-up worked and the tests gave no
    verdict. `exit_code` is the line's or the test command's, None when it ran out of time or
    was never started. `log` is the end of the output, `denied` the hosts that were refused.
    """

    summary: str
    line: str = ""
    exit_code: int | None = None
    log: str = ""
    denied: tuple[str, ...] = ()

    @property
    def is_setup(self) -> bool:
        """Whether the set-up itself failed, so that there is no environment at all."""
        return bool(self.line)


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of a plan: `environment` when it was set up, `trouble` when tests are missing."""

    environment: Environment | None
    trouble: Trouble | None


async def try_plan(services: Services, plan: EnvironmentPlan) -> Trial:
    """Set up and test `plan` from scratch, or find it in the cache.

    A set-up line that fails, and an image the repository may not have, are results; no engine,
    and a sandbox that fails by itself, are raised.
    """
    try:
        environment = await services.sandbox.prepare(services.source, plan, services.run)
    except SetupFailed as error:
        return Trial(None, trouble_of(error))
    except NotAllowed as error:
        return Trial(None, Trouble(str(error), line=f"image: {plan.image}"))
    return Trial(environment, missing_tests(environment))


async def replay(services: Services, plan: EnvironmentPlan) -> Trial:
    """`try_plan` for a plan that an agent wrote: whatever it breaks is its own trouble."""
    try:
        return await try_plan(services, plan)
    except EngineUnavailable:
        raise
    except SandboxError as error:
        return Trial(None, Trouble(str(error), line="(the set-up as a whole)"))


def trouble_of(error: SetupFailed) -> Trouble:
    """A failed set-up line as a value that the journal can keep."""
    log = error.log.strip()[-LOG_KEPT:]
    return Trouble(str(error), error.line, error.exit_code, log, error.denied)


def missing_tests(environment: Environment) -> Trouble | None:
    """Why no test of an environment can speak for a patch; None when one can.

    From a report one result that is no error is enough. A suite that is judged by its exit code
    alone has to pass: when it fails, nothing shows that it ran any test.
    """
    run, test = environment.baseline, environment.plan.test
    if run is None:
        return Trouble("No test command was found.")
    log = run.output.strip()[-LOG_KEPT:]
    if run.timed_out:
        return Trouble(f"The tests (`{test}`) did not end in time.", log=log)
    if not run.results:
        summary = f"The tests (`{test}`) gave no verdict: exit code {run.exit_code}, no test ran."
        return Trouble(summary, exit_code=run.exit_code, log=log)
    if run.structured and all(status == "error" for status in run.results.values()):
        summary = f"Every test of `{test}` ended in an error, none was really run."
        return Trouble(summary, exit_code=run.exit_code, log=log)
    if not run.structured and not run.with_status("pass"):
        summary = f"`{test}` ended with {run.exit_code} and left no report of single tests."
        return Trouble(summary, exit_code=run.exit_code, log=log)
    return None
