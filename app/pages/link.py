"""The address of a run's page: nobody can guess it who does not hold the webhook secret."""

import hashlib
import hmac

from app.settings import Settings

_PURPOSE = b"prism run page "


def run_token(secret: str, run_id: str) -> str:
    """What makes the page of one run readable: 64 hex digits from the webhook secret and its id."""
    message = _PURPOSE + run_id.encode("utf-8", "surrogatepass")
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()


def is_token(secret: str, run_id: str, token: str) -> bool:
    """Whether `token` opens the page of that run; compares in constant time."""
    given = token.encode("utf-8", "surrogatepass")
    return hmac.compare_digest(run_token(secret, run_id).encode(), given)


def run_url(settings: Settings, run_id: str) -> str:
    """The page's whole address, "" without PRISM_PUBLIC_URL or a webhook secret."""
    if not (settings.public_url and settings.webhook_secret):
        return ""
    return f"{settings.public_url}/runs/{run_id}/{run_token(settings.webhook_secret, run_id)}"
