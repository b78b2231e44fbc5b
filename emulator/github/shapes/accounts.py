"""Accounts, the App and its installations as JSON."""

from datetime import datetime
from typing import Any
from urllib.parse import quote

from emulator.github.records import Installation, Repository, User
from emulator.github.state import State, node_id


def moment(when: datetime) -> str:
    """GitHub's form of a time: UTC, whole seconds, a Z at the end."""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_or_none(when: datetime | None) -> str | None:
    """The same, None for a time that has not come."""
    return None if when is None else moment(when)


def user(state: State, who: User) -> dict[str, Any]:
    """A simple user; the App's bot has its page under `/apps`."""
    url = f"{state.url}/api/v3/users/{quote(who.login)}"
    page = f"apps/{state.app_slug}" if who.type == "Bot" else who.login
    return {
        "login": who.login,
        "id": who.id,
        "node_id": node_id(who.type, who.id),
        "avatar_url": f"{state.url}/avatars/{who.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{state.url}/{page}",
        "followers_url": f"{url}/followers",
        "following_url": f"{url}/following{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{url}/subscriptions",
        "organizations_url": f"{url}/orgs",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "received_events_url": f"{url}/received_events",
        "type": who.type,
        "user_view_type": "public",
        "site_admin": False,
    }


def public_user(state: State, who: User) -> dict[str, Any]:
    """What `GET /users/{login}` shows."""
    return user(state, who) | {
        "name": who.name,
        "company": None,
        "blog": "",
        "location": None,
        "email": who.email,
        "hireable": None,
        "bio": None,
        "twitter_username": None,
        "public_repos": 0,
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": moment(state.started_at),
        "updated_at": moment(state.started_at),
    }


def app(state: State) -> dict[str, Any]:
    """The App itself ("integration" in GitHub's description)."""
    return {
        "id": state.app_id,
        "slug": state.app_slug,
        "client_id": state.client_id,
        "node_id": node_id("Integration", state.app_id),
        "owner": user(state, state.org),
        "name": state.app_slug.capitalize(),
        "description": "",
        "external_url": f"{state.url}/apps/{state.app_slug}",
        "html_url": f"{state.url}/apps/{state.app_slug}",
        "created_at": moment(state.started_at),
        "updated_at": moment(state.started_at),
        "permissions": dict(state.permissions),
        "events": list(state.events),
    }


def installation(state: State, what: Installation) -> dict[str, Any]:
    """An installation of the App."""
    url = f"{state.url}/api/v3"
    suspended_by = what.suspended_by
    return {
        "id": what.id,
        "client_id": state.client_id,
        "account": user(state, what.account),
        "repository_selection": what.selection,
        "access_tokens_url": f"{url}/app/installations/{what.id}/access_tokens",
        "repositories_url": f"{url}/installation/repositories",
        "html_url": f"{state.url}/organizations/{what.account.login}/settings/installations"
        f"/{what.id}",
        "app_id": state.app_id,
        "app_slug": state.app_slug,
        "target_id": what.account.id,
        "target_type": what.account.type,
        "permissions": dict(what.permissions),
        "events": list(state.events),
        "created_at": moment(what.created_at),
        "updated_at": moment(what.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": None if suspended_by is None else user(state, suspended_by),
        "suspended_at": moment_or_none(what.suspended_at),
    }


def named(repo: Repository) -> dict[str, Any]:
    """A repository as installation events name it: without its default branch."""
    return {
        "id": repo.id,
        "node_id": node_id("Repository", repo.id),
        "name": repo.name,
        "full_name": repo.full_name,
        "private": repo.private,
    }
