"""Failures people can do something about, in their words: what happened, kept, next."""

from app.github.errors import GitHubError
from app.messages.facts import Failure
from pipeline.errors import (
    BudgetExhausted,
    EmptyRepository,
    MalformedAnswer,
    ModelRefused,
    ModelRejected,
    PipelineError,
)
from sandbox.errors import SandboxError, SetupFailed

EXPECTED = (PipelineError, SandboxError, GitHubError)
"""What ends a run with words on the issue; anything else is a fault of Prism and a crash."""

GIVEN_UP = Failure(
    "run",
    "Every attempt to work on this run ended in a crash of the worker.",
    "Finished steps are in the ledger.",
    "Ask the operator to look at the worker's log for this run.",
)
NO_LONGER_ALLOWED = Failure(
    "publish",
    "The person who asked for this run no longer has write access to the repository.",
    "The decision is in the ledger.",
    "Someone with write access can comment `/prism rerun`.",
)

_KEPT = "Finished steps and their cost are in the ledger."
_LOG_LINES = 15


def failure_of(error: Exception) -> Failure:
    """The failure as it is told on the issue."""
    match error:
        case SetupFailed():
            return Failure("environment", f"{error} The end of its log:", _end(error.log), _SETUP)
        case ModelRejected():
            return Failure("model", str(error), _KEPT, _OPERATOR)
        case ModelRefused() | MalformedAnswer():
            return Failure("model", str(error), _KEPT)
        case BudgetExhausted():
            return Failure("budget", str(error), _KEPT, _OPERATOR)
        case EmptyRepository():
            return Failure("checkout", str(error))
        case SandboxError():
            return Failure("sandbox", str(error), _KEPT)
        case GitHubError():
            return Failure("github", str(error), _KEPT)
        case _:
            return Failure("pipeline", str(error), _KEPT)


_SETUP = (
    "Write the set-up into `.github/prism.yml` (`env.setup`, `env.test`), then comment "
    "`/prism rerun`."
)
_OPERATOR = "Tell the operator of this Prism; when it is mended, comment `/prism rerun`."


def _end(log: str) -> str:
    return "\n".join(log.strip().splitlines()[-_LOG_LINES:])
