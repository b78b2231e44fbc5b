"""Failures people can do something about, in their words: what happened, kept, next."""

from app.github.errors import GitHubError
from app.messages.facts import Failure, SetupFailure
from pipeline.errors import (
    BudgetExhausted,
    EmptyRepository,
    ModelError,
    ModelRejected,
    NoEnvironment,
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
DECLINED = Failure(
    "model",
    "The model declined to work on this issue, in half of the attempts or more.",
    "Finished steps and their cost are in the ledger; nothing of the answers is shown.",
    "This one needs a person.",
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
_HOSTS = (
    "If the set-up needs the refused hosts: name them in `env.hosts` of `.github/prism.yml`, and "
    "ask whoever runs this server to allow them with `PRISM_SETUP_HOSTS`."
)
_PIN = (
    "Write a set-up that works into `.github/prism.yml` on the default branch: `env.setup` and "
    "`env.test`; where needed `env.apt` (Debian packages), `env.vars`, `env.directory`."
)
_TRY = "Whoever runs this server can try it with `prism env build` and sees more of the log."
_UNTESTED = (
    "Or let runs go on without tests when the set-up fails: `env.untested: true`. Pull requests "
    "then say so."
)


def failure_of(error: Exception) -> Failure:
    """The failure as it is told on the issue."""
    if isinstance(error, SetupFailed):
        return Failure("environment", str(error), "", _SETUP, _end(error.log))
    phase, next_step = next(row[1:] for row in _PHASES if isinstance(error, row[0]))
    return Failure(phase, str(error), _KEPT, next_step)


def setup_failure_of(error: NoEnvironment) -> SetupFailure:
    """A set-up that failed, with what people can do about this one."""
    how = "it did not end in time" if error.exit_code is None else f"exit code {error.exit_code}"
    return SetupFailure(
        cause=str(error),
        line=error.line,
        how=how,
        origin=error.origin,
        denied=error.denied,
        agent=error.agent,
        next_steps=(*advice(error.denied), _TRY, "Then comment `/prism rerun`."),
        log=_end(error.log),
    )


def advice(denied: tuple[str, ...]) -> tuple[str, ...]:
    """What people can do about a set-up that failed after it was refused these hosts."""
    return (*((_HOSTS,) if denied else ()), _PIN, _UNTESTED)


def _end(log: str) -> str:
    return "\n".join(log.strip().splitlines()[-_LOG_LINES:])
