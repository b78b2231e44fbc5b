"""Errors of the pipeline. "No patch" is not among them: it is an outcome.

PipelineError
├── BudgetExhausted     the next call does not fit into the run's budget
│   └── ItemShareUsed       it does not fit into what one item may use of it
├── ModelError
│   ├── ModelRejected   key, model name or request refused: trying again is useless
│   │   ├── PromptTooLong   this conversation does not fit into the model's context any more
│   │   └── KeyRefused      key refused or no credit: no run can go on until somebody acts
│   ├── ModelUnavailable (ConnectionError)  still failing after all retries
│   ├── ModelRefused    the model declined to answer
│   │   └── RunRefused  it declined so many samples that the run is over
│   └── MalformedAnswer (ValueError)  a verdict that stayed invalid after its repairs
├── PriceUnknown        (ValueError)  a model without a price, or prices that cannot be read
├── RoleUnknown         (ValueError)  settings name a role that does not exist, or cannot be read
├── JournalOfAnotherRun (ValueError)  a file that does not belong to this run; left as it was
├── NothingToReplay     (ValueError)  a journal without candidates and evidence to vote on
├── NoEnvironment       the set-up failed, and the repository's settings want tests
└── EmptyRepository     there is nothing to repair at the base commit
"""


class PipelineError(Exception):
    """Base of everything the pipeline raises."""


class BudgetExhausted(PipelineError):
    """The next call does not fit; `limit_usd` and `spent_usd` say by how much.

    `reason` stands in for the sentence where it is not the run's money that is used up.
    """

    def __init__(self, limit_usd: float, spent_usd: float, reason: str = "") -> None:
        used = f"The budget of ${limit_usd:.2f} is used up (${spent_usd:.2f} spent)."
        super().__init__(reason or used)
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd


class ItemShareUsed(BudgetExhausted):
    """One item has had its share of the budget; the others go on."""


class ModelError(PipelineError):
    """Base of what the model API can do to us; `status` is the HTTP status, 0 when none came.

    `wait_s` is when to try again at the earliest, 0.0 when nobody knows.
    """

    def __init__(self, message: str, status: int = 0, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        self.wait_s = wait_s


class ModelRejected(ModelError):
    """The API refuses key, model name or request; nothing will change by trying again."""


class PromptTooLong(ModelRejected):
    """The conversation outgrew the model's context; ends the item, not the run."""


class KeyRefused(ModelRejected):
    """The API refuses the key, or its account may not spend: the same for every run."""


class ModelUnavailable(ModelError, ConnectionError):
    """The API kept failing after all retries."""


class ModelRefused(ModelError):
    """The model declined to answer (stop reason `refusal`)."""


class RunRefused(ModelRefused):
    """Half of the samples or more were declined; ends the run, and nothing of them is told."""


class MalformedAnswer(ModelError, ValueError):
    """A verdict that stayed invalid after two repairs and has no default."""


class PriceUnknown(PipelineError, ValueError):
    """No price is known for a model, or PRISM_PRICES cannot be read: nothing may be spent."""


class RoleUnknown(PipelineError, ValueError):
    """A setting that maps roles to models or shares cannot be read or names no role there is."""


class JournalOfAnotherRun(PipelineError, ValueError):
    """The file is another run's journal, or none: its results would be taken for this run's."""


class NothingToReplay(PipelineError, ValueError):
    """A journal holds nothing that could be decided again; the message says what is missing."""


class EmptyRepository(PipelineError):
    """The base commit holds no file."""


class NoEnvironment(PipelineError):
    """The repository could not be set up, so nothing could be tested.

    `line` is the set-up line that failed, `exit_code` None when it ran out of time, `log` the end
    of its output, `denied` the hosts it was refused, `origin` where the line came from. `agent`
    says how the set-up agent ended, "" when it was not asked.
    """

    def __init__(
        self,
        summary: str,
        *,
        line: str,
        exit_code: int | None,
        log: str,
        denied: tuple[str, ...],
        origin: str,
        agent: str,
    ) -> None:
        super().__init__(summary)
        self.line = line
        self.exit_code = exit_code
        self.log = log
        self.denied = denied
        self.origin = origin
        self.agent = agent
