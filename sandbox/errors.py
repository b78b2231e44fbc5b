"""Errors of the sandbox.

SandboxError
├── EngineUnavailable   (ConnectionError)  no engine answers
├── ConfigInvalid       (ValueError)       the repository's .github/prism.yml is malformed
├── SetupFailed         a set-up line failed; carries log and exit code
├── WorkspaceLost       the container or folder went away
├── FileNotFound        (FileNotFoundError) a path that is not in the workspace
└── NotAllowed          (PermissionError)  a backend or path that the rules refuse
"""


class SandboxError(Exception):
    """Base of everything the sandbox raises."""


class EngineUnavailable(SandboxError, ConnectionError):
    """No container engine answers; the message says what to do."""


class ConfigInvalid(SandboxError, ValueError):
    """The repository's own settings cannot be used; the message names the file and the key."""


class SetupFailed(SandboxError):
    """A set-up line failed.

    `line` is the command, `exit_code` None when it hit the time limit, `log` the end of the
    output, `denied` the hosts it asked for and was refused, sorted.
    """

    def __init__(
        self, line: str, exit_code: int | None, log: str, denied: tuple[str, ...] = ()
    ) -> None:
        how = "did not end in time" if exit_code is None else f"ended with {exit_code}"
        hosts = f" It was refused these hosts: {', '.join(denied)}." if denied else ""
        super().__init__(f"Set-up line `{line}` {how}.{hosts}")
        self.line = line
        self.exit_code = exit_code
        self.log = log
        self.denied = denied


class WorkspaceLost(SandboxError):
    """The workspace went away while it was in use; the item can be started again."""


class FileNotFound(SandboxError, FileNotFoundError):
    """No such file in the workspace."""


class NotAllowed(SandboxError, PermissionError):
    """Refused by a rule of the sandbox, with the rule in the message."""
