"""Repositories as JSON."""

from typing import Any

from emulator.github.records import ROLES, Repository, Role
from emulator.github.shapes.accounts import moment, user
from emulator.github.state import State, node_id

# Addresses GitHub derives from the repository's own; braces are URI templates.
_ADDRESSES = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


def api_url(state: State, repo: Repository) -> str:
    """The repository's address in the REST API."""
    return f"{state.url}/api/v3/repos/{repo.full_name}"


def page_url(state: State, repo: Repository) -> str:
    """The repository's address for people."""
    return f"{state.url}/{repo.full_name}"


def repository(state: State, repo: Repository) -> dict[str, Any]:
    """A repository as lists and events carry it."""
    url, page = api_url(state, repo), page_url(state, repo)
    open_issues = sum(each.state == "open" for each in repo.issues.values())
    return {
        "id": repo.id,
        "node_id": node_id("Repository", repo.id),
        "name": repo.name,
        "full_name": repo.full_name,
        "private": repo.private,
        "visibility": "private" if repo.private else "public",
        "owner": user(state, repo.owner),
        "html_url": page,
        "description": repo.description,
        "fork": False,
        "url": url,
        **{name: url + rest for name, rest in _ADDRESSES.items()},
        "clone_url": f"{page}.git",
        "git_url": f"{page}.git",
        "ssh_url": f"{page}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "default_branch": repo.default_branch,
        "archived": repo.archived,
        "disabled": False,
        "is_template": False,
        "topics": [],
        "has_issues": True,
        "has_projects": True,
        "has_downloads": True,
        "has_wiki": True,
        "has_pages": False,
        "has_discussions": False,
        "allow_forking": True,
        "web_commit_signoff_required": False,
        "size": 0,
        "forks": 0,
        "forks_count": 0,
        "stargazers_count": 0,
        "watchers": 0,
        "watchers_count": 0,
        "open_issues": open_issues,
        "open_issues_count": open_issues,
        "created_at": moment(repo.created_at),
        "updated_at": moment(repo.created_at),
        "pushed_at": moment(repo.created_at),
    }


def full_repository(state: State, repo: Repository, role: Role) -> dict[str, Any]:
    """What `GET /repos/{owner}/{repo}` shows to somebody with that role."""
    return repository(state, repo) | {
        "organization": user(state, repo.owner),
        "network_count": 0,
        "subscribers_count": 0,
        "temp_clone_token": None,
        "permissions": _permissions(role),
    }


def _permissions(role: Role) -> dict[str, bool]:
    height = ROLES.index(role)
    return {
        "admin": height >= ROLES.index("admin"),
        "maintain": height >= ROLES.index("maintain"),
        "push": height >= ROLES.index("write"),
        "triage": height >= ROLES.index("triage"),
        "pull": height >= ROLES.index("read"),
    }
