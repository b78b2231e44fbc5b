"""What the demo asks of the emulated GitHub, as the maintainer would."""

from dataclasses import dataclass
from typing import Any

import httpx

REPOSITORY = "tenacity"
ISSUE = 1


@dataclass(frozen=True, slots=True)
class Hub:
    """The emulated GitHub; `facts` is what it wrote when it was ready."""

    facts: dict[str, Any]

    @property
    def full_name(self) -> str:
        """owner/name of the demo's repository."""
        return f"{self.facts['owner']}/{REPOSITORY}"

    @property
    def issue_url(self) -> str:
        """The issue's page, for a browser."""
        return f"{self.facts['url']}/{self.full_name}/issues/{ISSUE}"

    def add_label(self, label: str) -> None:
        """Label the issue; GitHub then delivers the event to Prism."""
        self._call("POST", f"/issues/{ISSUE}/labels", {"labels": [label]})

    def repository_id(self) -> int:
        """The repository's number."""
        return int(self._call("GET", "")["id"])

    def pull_requests(self) -> list[dict[str, Any]]:
        """All pull requests, open and closed."""
        found: list[dict[str, Any]] = self._call("GET", "/pulls?state=all")
        return found

    def comments(self) -> list[dict[str, Any]]:
        """The issue's comments, oldest first."""
        found: list[dict[str, Any]] = self._call("GET", f"/issues/{ISSUE}/comments")
        return found

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        answer = httpx.request(
            method,
            f"{self.facts['api_url']}/repos/{self.full_name}{path}",
            json=body,
            headers={"authorization": f"Bearer {self.facts['maintainer_token']}"},
            timeout=30,
        )
        answer.raise_for_status()
        return answer.json()
