"""All REST endpoints; the description is pruned to exactly these operations."""

from emulator.github.rest import (
    apps,
    checks,
    comments,
    commits,
    git_data,
    git_refs,
    hooks,
    issues,
    pulls,
    repositories,
)

ENDPOINTS = (
    *apps.ENDPOINTS,
    *hooks.ENDPOINTS,
    *repositories.ENDPOINTS,
    *checks.ENDPOINTS,
    *commits.ENDPOINTS,
    *git_data.ENDPOINTS,
    *git_refs.ENDPOINTS,
    *comments.ENDPOINTS,
    *issues.ENDPOINTS,
    *pulls.ENDPOINTS,
)
OPERATIONS = tuple(each.operation for each in ENDPOINTS)
