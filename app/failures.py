"""Failures people can do something about, in their words: what happened, kept, next."""

from app.github.errors import GitHubError
from app.messages.facts import Failure
from pipeline.errors import (
    BudgetExhausted,
    EmptyRepository,
    ModelError,
    ModelRejected,
    PipelineError,
    PriceUnknown,
)
from sandbox.errors import ConfigInvalid, SandboxError, SetupFailed

EXPECTED = (PipelineError, SandboxError, GitHubError)
"""What ends a run with words on the issue; anything else is a fault of Prism and a crash."""

GIVEN_UP = Failure(
    "run",
    "Every attempt to work on this run ended in a crash of the worker.",
    "Finished steps are in the ledger.",
    "Ask the operator to look at the worker's log for this run.",
)
STILL_UNREACHABLE = Failure(
    "run",
    "Something this run needs did not answer for hours.",
    "Finished steps are in the ledger.",
    "Ask the operator to look at the worker's log; then comment `/prism rerun`.",
)
NO_LONGER_ALLOWED = Failure(
    "publish",
    "The person who asked for this run no longer has write access to the repository.",
    "The decision is in the ledger.",
    "Someone with write access can comment `/prism rerun`.",
)

_KEPT = "Finished steps and their cost are in the ledger."
_AGAIN = "Comment `/prism rerun` to try again."
_OPERATOR = "Tell the operator of this Prism; when it is mended, comment `/prism rerun`."
_SETUP = (
    "Write the set-up into `.github/prism.yml` (`env.setup`, `env.test`), then comment "
    "`/prism rerun`."
)
_PHASES: tuple[tuple[type[Exception], str, str], ...] = (
    (ModelRejected, "model", _OPERATOR),
    (PriceUnknown, "model", _OPERATOR),
    (ModelError, "model", _AGAIN),
    (BudgetExhausted, "budget", _OPERATOR),
    (EmptyRepository, "checkout", _AGAIN),
    (ConfigInvalid, "environment", _SETUP),
    (SandboxError, "sandbox", _OPERATOR),
    (GitHubError, "github", _AGAIN),
    (Exception, "pipeline", _AGAIN),
)
_LOG_LINES = 15


def failure_of(error: Exception) -> Failure:
    """The failure as it is told on the issue."""
    if isinstance(error, SetupFailed):
        return Failure("environment", str(error), "", _SETUP, _end(error.log))
    phase, next_step = next(row[1:] for row in _PHASES if isinstance(error, row[0]))
    return Failure(phase, str(error), _KEPT, next_step)


def _end(log: str) -> str:
    return "\n".join(log.strip().splitlines()[-_LOG_LINES:])
