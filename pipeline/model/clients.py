"""The SDK's clients for the places where models can be asked.

The single importer of `anthropic`, at the first call only: the import takes a second.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Union
from urllib.parse import urlsplit

from pipeline.errors import ModelRejected
from pipeline.model.faults import KEYS

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncAnthropicBedrock, AsyncAnthropicVertex

Client = Union["AsyncAnthropic", "AsyncAnthropicBedrock", "AsyncAnthropicVertex"]
Kind = Literal["anthropic", "bedrock", "vertex"]


@dataclass(frozen=True, slots=True)
class Provider:
    """Whose API is spoken. `region` and `project` are the clouds' own names for the place."""

    kind: Kind = "anthropic"
    region: str = ""
    project: str = ""

    @property
    def keys(self) -> str:
        """The settings to look at when the key is refused."""
        return {
            "anthropic": KEYS,
            "bedrock": "AWS_BEARER_TOKEN_BEDROCK or the worker's AWS credentials, and AWS_REGION",
            "vertex": "the worker's Google credentials, ANTHROPIC_VERTEX_PROJECT_ID and "
            "CLOUD_ML_REGION",
        }[self.kind]


def require_access(provider: Provider, api_key: str) -> None:
    """Raise ModelRejected for what is missing before anything can be asked; costs no call."""
    if provider.kind == "anthropic" and not api_key:
        raise ModelRejected("No model key is set. Set ANTHROPIC_API_KEY and start again.")
    if provider.kind == "bedrock" and not provider.region:
        raise ModelRejected("No region is set for Bedrock. Set AWS_REGION and start again.")
    if provider.kind == "vertex" and not (provider.region and provider.project):
        raise ModelRejected(
            "Vertex needs CLOUD_ML_REGION and ANTHROPIC_VERTEX_PROJECT_ID. Set both and start "
            "again."
        )
    needed = {"bedrock": "boto3", "vertex": "" if api_key else "google.auth"}.get(provider.kind)
    if needed and not _is_installed(needed):
        raise ModelRejected(
            f"{provider.kind.title()} needs the extra `{provider.kind}`: "
            f"pip install 'prism[{provider.kind}]'."
        )


def open_client(provider: Provider, api_key: str, base_url: str) -> Client:
    """A client without retries of its own. `api_key` and `base_url` may be "" for the clouds.

    Without a key Bedrock takes AWS's and Vertex Google's usual credentials of this process.
    """
    from anthropic import (  # noqa: PLC0415 - takes a second
        AsyncAnthropic,
        AsyncAnthropicBedrock,
        AsyncAnthropicVertex,
        Timeout,
    )

    require_access(provider, api_key)
    timeout = Timeout(connect=10.0, read=180.0, write=60.0, pool=60.0)
    if provider.kind == "bedrock":
        return AsyncAnthropicBedrock(
            api_key=api_key or None,
            aws_region=provider.region,
            base_url=base_url or None,
            max_retries=0,
            timeout=timeout,
        )
    if provider.kind == "vertex":
        return AsyncAnthropicVertex(
            access_token=api_key or None,
            region=provider.region,
            project_id=provider.project,
            base_url=base_url or None,
            max_retries=0,
            timeout=timeout,
        )
    extra = {"x-api-key": api_key, "anthropic-version": "2023-06-01"}
    return AsyncAnthropic(
        api_key=api_key,
        base_url=base_url,
        max_retries=0,
        timeout=timeout,
        default_headers={} if _is_anthropic(base_url) else extra,
    )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it
        return False


def _is_anthropic(base_url: str) -> bool:
    """Compatible hosts know the older header only, so they are sent both."""
    host = urlsplit(base_url).hostname or ""
    return host == "anthropic.com" or host.endswith(".anthropic.com")
