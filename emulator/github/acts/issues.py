"""Issues, labels, comments and reactions: create, change, delete."""

from collections.abc import Iterable

from emulator.github import events
from emulator.github.errors import Refused, invalid
from emulator.github.records import Comment, Issue, Label, Reaction, Repository, User
from emulator.github.shapes.issues import label as label_shape
from emulator.github.state import State, next_number

# Measured on GitHub: the limit is in bytes, whatever the message says.
BODY_BYTES = 262_144
TITLE_CHARACTERS = 256


def open_issue(
    state: State,
    repo: Repository,
    title: str,
    body: str | None,
    user: User,
    *,
    labels: Iterable[str] = (),
    via_app: bool = False,
) -> Issue:
    """Open an issue; each label it is born with is also announced by `labeled`."""
    check_title(title)
    if too_long(body):
        raise body_too_long("Issue")
    now = state.now()
    issue = Issue(state.new_id(), next_number(repo), title, body, user, now, now, via_app)
    repo.issues[issue.number] = issue
    events.issue_changed(state, repo, issue, "opened", user)
    add_labels(state, repo, issue, labels, user)
    return issue


def check_title(title: str) -> None:
    """Refused 422 for an empty or an over-long title."""
    if not title.strip():
        raise invalid("Issue", "title", "missing_field")
    if len(title) > TITLE_CHARACTERS:
        raise invalid("Issue", "title", "custom", "title is too long (maximum is 256 characters)")


def too_long(body: str | None) -> bool:
    """Whether GitHub takes a body of an issue or comment."""
    return len((body or "").encode()) > BODY_BYTES


def body_too_long(resource: str) -> Refused:
    """422 for a body that is too long."""
    return invalid(resource, "body", "custom", "body is too long (maximum is 65536 characters)")


def touch(state: State, issue: Issue) -> None:
    """Note that something about the issue changed now."""
    issue.updated_at = state.now()


def edit_text(
    state: State,
    repo: Repository,
    issue: Issue,
    sender: User,
    *,
    title: str | None = None,
    body: str | None = None,
) -> None:
    """Change title or body (None: leave) and send `edited` with what stood there before.

    An over-long body is ignored without an error, as GitHub does.
    """
    changes = {}
    if title is not None and title != issue.title:
        check_title(title)
        changes["title"] = {"from": issue.title}
        issue.title = title
    if body is not None and body != issue.body and not too_long(body):
        changes["body"] = {"from": issue.body or ""}
        issue.body = body
    if changes:
        touch(state, issue)
        events.issue_changed(state, repo, issue, "edited", sender, changes=changes)


def close(
    state: State, repo: Repository, issue: Issue, sender: User, reason: str = "completed"
) -> None:
    """Close and send `closed`; nothing happens when it is closed already."""
    if issue.state == "closed":
        return
    issue.state, issue.closed_at, issue.closed_by = "closed", state.now(), sender
    issue.state_reason = None if issue.pull is not None else reason
    touch(state, issue)
    events.issue_changed(state, repo, issue, "closed", sender)


def reopen(state: State, repo: Repository, issue: Issue, sender: User) -> None:
    """Open again and send `reopened`."""
    if issue.state == "open":
        return
    issue.state, issue.closed_at, issue.closed_by = "open", None, None
    issue.state_reason = None if issue.pull is not None else "reopened"
    touch(state, issue)
    events.issue_changed(state, repo, issue, "reopened", sender)


def repository_label(state: State, repo: Repository, name: str) -> Label:
    """The repository's label of that name in any case; made when there is none."""
    return repo.labels.setdefault(name.lower(), Label(state.new_id(), name))


def add_labels(
    state: State, repo: Repository, issue: Issue, names: Iterable[str], sender: User
) -> None:
    """Put labels on; one `labeled` for each that was not there."""
    for name in names:
        label = repository_label(state, repo, name)
        if label not in issue.labels:
            issue.labels.append(label)
            touch(state, issue)
            shown = label_shape(state, repo, label)
            events.issue_changed(state, repo, issue, "labeled", sender, label=shown)


def remove_label(state: State, repo: Repository, issue: Issue, name: str, sender: User) -> None:
    """Take a label off and send `unlabeled`; Refused 404 when it is not on."""
    label = repo.labels.get(name.lower())
    if label is None or label not in issue.labels:
        raise Refused(404, "Label does not exist")
    issue.labels.remove(label)
    touch(state, issue)
    shown = label_shape(state, repo, label)
    events.issue_changed(state, repo, issue, "unlabeled", sender, label=shown)


def comment(
    state: State,
    repo: Repository,
    issue: Issue,
    body: str,
    user: User,
    *,
    via_app: bool = False,
) -> Comment:
    """Add a comment; Refused 422 for an empty or an over-long body."""
    _check_comment(body)
    now = state.now()
    made = Comment(state.new_id(), body, user, now, now, via_app)
    issue.comments.append(made)
    touch(state, issue)
    events.comment_changed(state, repo, issue, made, "created", user)
    return made


def edit_comment(
    state: State, repo: Repository, issue: Issue, what: Comment, body: str, sender: User
) -> None:
    """Change a comment and send `edited` with the former text."""
    _check_comment(body)
    before, what.body, what.updated_at = what.body, body, state.now()
    changes = {"body": {"from": before}}
    events.comment_changed(state, repo, issue, what, "edited", sender, changes=changes)


def delete_comment(
    state: State, repo: Repository, issue: Issue, what: Comment, sender: User
) -> None:
    """Delete a comment and send `deleted`."""
    issue.comments.remove(what)
    events.comment_changed(state, repo, issue, what, "deleted", sender)


def _check_comment(body: str) -> None:
    if not body.strip():
        raise invalid("IssueComment", "body", "missing_field", "body can't be blank")
    if too_long(body):
        raise body_too_long("IssueComment")


def react(
    state: State, reactions: list[Reaction], content: str, user: User
) -> tuple[Reaction, bool]:
    """The person's reaction and whether it is new: one of a kind for each person."""
    for each in reactions:
        if each.user is user and each.content == content:
            return each, False
    made = Reaction(state.new_id(), content, user, state.now())
    reactions.append(made)
    return made, True
