"""Errors of the GitHub side: the API, the mirrors and the publisher.

GitHubError
├── Refused              an answer that says no; `status` and `message` are GitHub's
│   ├── Unauthorized     401: key, token or App id is wrong or was revoked
│   ├── Forbidden        403 (PermissionError)
│   ├── NotFound         404, 410 (LookupError): absent, or hidden from this token
│   ├── Conflict         409: for instance an empty repository
│   └── Unprocessable    422 (ValueError): already exists, or not valid
├── RateLimited          asked to wait longer than a call may; `retry_after_s`
├── GitHubUnavailable    (ConnectionError) 5xx, no answer, no connection: the effect is unknown
├── MirrorFailed         git could not fetch or read; the message has no secrets
├── PatchDoesNotApply    (ValueError) git refused the patch
├── PatchRefused         (PermissionError) the patch policy said no; `reasons`
├── SecretInText         (PermissionError) a text holds something secret, so it was not sent
└── TreeMismatch         the tree GitHub built is not the one that was verified
"""


class GitHubError(Exception):
    """Base of everything this package raises."""


class Refused(GitHubError):
    """GitHub said no; `status` is the HTTP status, `message` GitHub's own words."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"GitHub answered {status}: {message}")
        self.status = status
        self.message = message


class Unauthorized(Refused):
    """The App's key or a token is not accepted; check APP_ID and PRIVATE_KEY."""


class Forbidden(Refused, PermissionError):
    """The App may not do this; a permission was not granted, or the thread is locked."""


class NotFound(Refused, LookupError):
    """There is no such thing, or this token may not see it."""


class Conflict(Refused):
    """The state does not allow it, for instance git data of an empty repository."""


class Unprocessable(Refused, ValueError):
    """It exists already, or a field is not valid; look up before deciding which."""


class RateLimited(GitHubError):
    """GitHub asks to wait longer than a call may; try the whole step again later."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"GitHub asks to wait {retry_after_s:.0f} s before the next call.")
        self.retry_after_s = retry_after_s


class GitHubUnavailable(GitHubError, ConnectionError):
    """No usable answer: whether the call took effect is unknown, so look it up."""


class MirrorFailed(GitHubError):
    """git could not fetch from or read a mirror."""


class PatchDoesNotApply(GitHubError, ValueError):
    """git refused the patch at the base commit; nothing was changed."""


class PatchRefused(GitHubError, PermissionError):
    """The patch policy refused the patch; nothing was published."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("The patch policy refused this patch: " + "; ".join(reasons))
        self.reasons = reasons


class SecretInText(GitHubError, PermissionError):
    """A text holds something secret and was not sent; `kinds` says what it looks like."""

    def __init__(self, kinds: tuple[str, ...]) -> None:
        super().__init__("A text was not published: it holds " + ", ".join(kinds) + ".")
        self.kinds = kinds


class TreeMismatch(GitHubError):
    """GitHub's tree differs from the verified one; nothing was published."""

    def __init__(self, expected: str, actual: str) -> None:
        super().__init__(f"GitHub built tree {actual}, but {expected} was verified.")
        self.expected = expected
        self.actual = actual
