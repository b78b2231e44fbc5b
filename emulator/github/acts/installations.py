"""The App on an account: install, change its repositories, suspend, uninstall."""

from collections.abc import Iterable
from typing import Literal

from emulator.github import events
from emulator.github.records import Installation, Repository, User
from emulator.github.state import State


def install(
    state: State,
    repositories: Iterable[Repository] | Literal["all"],
    sender: User,
    *,
    permissions: dict[str, str] | None = None,
) -> Installation:
    """Install on all repositories of the organisation, present and future, or on some."""
    everything = repositories == "all"
    made = Installation(
        state.new_id(),
        state.org,
        "all" if everything else "selected",
        set() if everything else {each.id for each in repositories if not isinstance(each, str)},
        dict(permissions or state.permissions),
        state.now(),
    )
    state.installations[made.id] = made
    events.installation_changed(state, made, "created", sender, state.installed_on(made))
    return made


def uninstall(state: State, what: Installation, sender: User) -> None:
    """Remove the installation: its tokens are worth nothing from now on."""
    covered = state.installed_on(what)
    del state.installations[what.id]
    for value in [v for v, token in state.tokens.items() if token.installation is what]:
        del state.tokens[value]
    events.installation_changed(state, what, "deleted", sender, covered)


def suspend(state: State, what: Installation, sender: User) -> None:
    """Suspend: every call with its tokens gets 403 until `unsuspend`."""
    what.suspended_at, what.suspended_by = state.now(), sender
    events.installation_changed(state, what, "suspend", sender)


def unsuspend(state: State, what: Installation, sender: User) -> None:
    """End a suspension."""
    what.suspended_at = what.suspended_by = None
    events.installation_changed(state, what, "unsuspend", sender)


def add_repositories(
    state: State, what: Installation, repositories: list[Repository], sender: User
) -> None:
    """Cover more repositories and say so."""
    what.repository_ids.update(each.id for each in repositories)
    events.repositories_changed(state, what, sender, repositories, [])


def remove_repositories(
    state: State, what: Installation, repositories: list[Repository], sender: User
) -> None:
    """Cover fewer repositories and say so."""
    what.repository_ids.difference_update(each.id for each in repositories)
    events.repositories_changed(state, what, sender, [], repositories)


def announce_new_repository(state: State, repo: Repository, sender: User) -> None:
    """Tell an installation on all repositories that there is one more."""
    for each in state.installations.values():
        if each.selection == "all" and each.account is repo.owner:
            events.repositories_changed(state, each, sender, [repo], [])
