"""Who may start a run, on which text, and what everybody else is answered."""

import asyncio
import json

import pytest

from app.admission.admit import admit
from app.admission.authorise import Admission
from app.github.errors import GitHubUnavailable
from app.ledger import inbox, installations, runs, snapshots
from app.ledger.inbox import Delivery
from app.settings import Settings
from emulator.github.acts import issues


async def test_a_label_starts_a_run(office):
    """A writer's label makes one run at the tip of the default branch, and 👀 on the issue."""
    issue = office.hub.open_issue(office.repo, "It breaks", "When `a` is 1.")
    office.hub.add_label(office.repo, issue.number, "Prism-Fix")
    run_ids, outcome = await office.decide()
    run = await runs.get(office.ledger, run_ids[0])
    assert outcome == f"admitted:{run.id}"
    assert (run.branch, run.generation, run.base_branch) == ("prism/issue-1", 1, "trunk")
    assert len(run.base_commit) == 40
    assert run.requested_by == "maintainer"
    assert [reaction.content for reaction in issue.reactions] == ["eyes"]


async def test_the_signed_text_is_used_not_the_present_one(office):
    """An edit after the label changes nothing: title and body come from the payload."""
    issue = office.hub.open_issue(office.repo, "Title", "Approved <!-- evil --> text")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    guid = await office.receive()
    office.hub.edit_issue(office.repo, issue.number, title="Other", body="Ignore all that")
    (run_id,) = await admit(office.admission, guid)
    run = await runs.get(office.ledger, run_id)
    snapshot = await snapshots.load(office.ledger, run.snapshot_id)
    assert (snapshot.title, snapshot.body) == ("Title", "Approved  text")
    assert snapshot.removed == [{"kind": "HTML comment", "count": 1, "sample": "evil"}]
    assert (snapshot.author, len(snapshot.sha256)) == ("maintainer", 64)


@pytest.mark.parametrize("body", [None, "", "💥" * 1000, "x" * 300_000, "a\0b\u202e", "<!--"])
async def test_odd_bodies_are_defined(office, body):
    """Null, emoji, 300 KB and control characters end in a run with a bounded text."""
    issue = office.hub.open_issue(office.repo, "💥 naïve", "seed")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    office.hub.webhooks.deliveries[-1].payload["issue"]["body"] = body
    run_ids, _ = await office.decide()
    run = await runs.get(office.ledger, run_ids[0])
    snapshot = await snapshots.load(office.ledger, run.snapshot_id)
    assert len(snapshot.body.encode()) <= 32_768


async def test_deciding_twice_is_deciding_once(office):
    """The same delivery, also when the first worker died before noting it, is one run."""
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    guid = await office.receive()
    answers = await asyncio.gather(*(admit(office.admission, guid) for _ in range(5)))
    assert len({run_id for answer in answers for run_id in answer}) == 1
    assert await admit(office.admission, guid) == []


async def test_one_run_at_a_time(office):
    """A second label event while a run is active joins it."""
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    first, _ = await office.decide()
    office.hub.remove_label(office.repo, issue.number, "prism-fix")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    second, outcome = await office.decide()
    assert second == first
    assert outcome == f"joined:{first[0]}"


@pytest.mark.parametrize("role", ["none", "read", "triage"])
async def test_less_than_write_is_refused(office, role):
    """Who can label but not write starts nothing and hears nothing."""
    user = office.hub.add_user("someone", role)
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.add_label(office.repo, issue.number, "prism-fix", user)
    run_ids, outcome = await office.decide()
    assert run_ids == []
    assert outcome.startswith("refused: ")
    assert issue.reactions == []
    assert issue.comments == []


async def test_write_is_enough(office):
    """A person with write access, no more, may start a run."""
    user = office.hub.add_user("writer", "write")
    issue = office.hub.open_issue(office.repo, "t", user=user)
    office.hub.add_label(office.repo, issue.number, "prism-fix", user)
    run_ids, _ = await office.decide()
    assert (await runs.get(office.ledger, run_ids[0])).requested_by_id == user.id


@pytest.mark.parametrize("kind", ["Bot", "Organization", "Mannequin"])
async def test_others_than_people_cost_nothing(office, kind):
    """Bots are refused before any request is made, whatever their name."""
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    office.hub.webhooks.deliveries[-1].payload["sender"]["type"] = kind
    office.hub.requests.clear()
    run_ids, outcome = await office.decide()
    assert (run_ids, outcome) == ([], f"refused: sender is a {kind.lower()}")
    assert office.calls() == []


async def test_a_login_that_changed_hands_is_refused(office):
    """The numeric id of the sender has to be the one the permission is about."""
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    office.hub.webhooks.deliveries[-1].payload["sender"]["id"] += 1
    _, outcome = await office.decide()
    assert outcome == "refused: the login belongs to somebody else now"


async def test_no_answer_about_permission_is_no_run(office):
    """While GitHub cannot tell, nothing starts and the delivery stays open; then it starts."""
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    guid = await office.receive()
    office.hub.faults.add("GET", "/permission$", 500, times=99)
    with pytest.raises(GitHubUnavailable):
        await admit(office.admission, guid)
    assert (await inbox.load(office.ledger, guid)).outcome is None
    office.hub.faults.clear()
    assert len(await admit(office.admission, guid)) == 1


@pytest.mark.parametrize("status", [403, 404])
async def test_a_refused_look_up_is_no_run(office, status):
    """403 and 404 about the permission mean no."""
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    office.hub.faults.add("GET", "/permission$", status, times=9)
    run_ids, outcome = await office.decide()
    assert run_ids == []
    assert outcome.startswith("refused: ")


async def test_a_removed_installation_is_refused(office):
    """A label that arrives after the App was removed ends with a reason, not a crash."""
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    guid = await office.receive()
    office.hub.uninstall(office.installation)
    assert await admit(office.admission, guid) == []
    assert (await inbox.load(office.ledger, guid)).outcome.startswith("refused: ")


async def test_other_labels_are_ignored(office):
    """A label that only looks similar does nothing."""
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.add_label(office.repo, issue.number, "prism-fixed")
    assert await office.decide() == ([], "ignored: issues.labeled")


async def test_a_label_on_a_pull_request_gets_one_explanation(office):
    """However often the label is put on, there is one reply, also when an answer is lost."""
    office.branch("topic")
    pull = office.hub.open_pull(office.repo, "t", "topic")
    office.hub.faults.add("POST", "/comments$", "after_commit_502")
    for _ in range(2):
        office.hub.add_label(office.repo, pull.number, "prism-fix")
        run_ids, outcome = await office.decide()
        assert (run_ids, outcome) == ([], "replied: label on a pull request")
        office.hub.remove_label(office.repo, pull.number, "prism-fix")
    (text,) = office.texts(pull)
    assert "works on issues" in text


async def test_an_empty_repository_is_explained(office):
    """Without a commit there is no run but a sentence that says what to do."""
    empty = office.hub.add_repository("empty")
    issue = office.hub.open_issue(empty, "t")
    office.hub.add_label(empty, issue.number, "prism-fix")
    run_ids, outcome = await office.decide()
    assert run_ids == []
    assert outcome == "refused: the branch main has no commit"
    assert "Push a first commit" in office.texts(issue)[0]


async def test_an_archived_repository_is_refused(office):
    """Nothing can be written there, so nothing is started."""
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    office.repo.archived = True
    assert (await office.decide())[1] == "refused: the repository is archived"


async def finish(office, run_id):
    """End a run as if a worker had."""
    claim = await runs.claim(office.ledger, run_id, "w", 60)
    await runs.finish(office.ledger, run_id, claim.epoch, "no_fix", "Nothing found.")


async def test_rerun_is_a_new_generation_with_new_text(office):
    """A writer's `/prism rerun` approves the text as its own payload shows it."""
    issue = office.hub.open_issue(office.repo, "t", "old")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    (first,), _ = await office.decide()
    await finish(office, first)
    office.hub.edit_issue(office.repo, issue.number, body="new")
    comment = office.hub.comment(office.repo, issue.number, "/prism rerun")
    (second,), outcome = await office.decide()
    run = await runs.get(office.ledger, second)
    assert (run.generation, run.branch) == (2, "prism/issue-1-2")
    assert (await snapshots.load(office.ledger, run.snapshot_id)).body == "new"
    assert outcome == f"admitted:{second}"
    assert [reaction.content for reaction in comment.reactions] == ["eyes"]


async def test_rerun_on_our_pull_request_is_about_its_issue(office):
    """On the pull request the earlier approved text is used: its payload has no issue text."""
    issue = office.hub.open_issue(office.repo, "t", "the issue's text")
    office.hub.add_label(office.repo, issue.number, "prism-fix")
    (first,), _ = await office.decide()
    await finish(office, first)
    office.branch("prism/issue-1")
    pull = office.hub.open_pull(office.repo, "PR", "prism/issue-1", "the pull request's text")
    office.hub.comment(office.repo, pull.number, "/prism rerun")
    (second,), _ = await office.decide()
    run = await runs.get(office.ledger, second)
    assert (run.issue_number, run.generation) == (1, 2)
    assert (await snapshots.load(office.ledger, run.snapshot_id)).body == "the issue's text"


async def test_rerun_on_a_foreign_pull_request_is_ignored(office):
    """Pull requests of people are not ours to redo."""
    office.branch("prism/issue-99")
    pull = office.hub.open_pull(office.repo, "PR", "prism/issue-99")
    office.hub.comment(office.repo, pull.number, "/prism rerun")
    assert await office.decide() == ([], "ignored: not a pull request of Prism")


async def test_commands_of_readers_are_refused_quietly(office):
    """A reaction, no reply: replies to refused commands are themselves spam."""
    user = office.hub.add_user("someone", "triage")
    issue = office.hub.open_issue(office.repo, "t")
    comment = office.hub.comment(office.repo, issue.number, "/prism rerun", user)
    run_ids, outcome = await office.decide()
    assert run_ids == []
    assert outcome == "refused: role triage is less than write"
    assert [reaction.content for reaction in comment.reactions] == ["confused"]
    assert office.texts(issue) == []


@pytest.mark.parametrize("role", ["triage", "write"])
async def test_a_deleted_comment_changes_no_outcome(office, role):
    """No reaction can be left on it; what is noted is the decision, not the reaction's error."""
    user = office.hub.add_user("someone", role)
    issue = office.hub.open_issue(office.repo, "t")
    words = "/prism rerun" if role == "triage" else "/prism explode"
    comment = office.hub.comment(office.repo, issue.number, words, user)
    guid = await office.receive()
    issues.delete_comment(office.hub, office.repo, issue, comment, user)
    assert await admit(office.admission, guid) == []
    stored = await inbox.load(office.ledger, guid)
    said = {
        "triage": "refused: role triage is less than write",
        "write": "replied: unknown command",
    }
    assert stored.outcome == said[role]


async def test_help_is_given_when_asked(office):
    """`/prism help` lists the commands that work; the same delivery again adds nothing."""
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.comment(office.repo, issue.number, "@prism help")
    office.hub.faults.add("POST", "/comments$", "after_commit_502")
    assert await office.decide() == ([], "replied: help")
    (text,) = office.texts(issue)
    assert "`/prism rerun`" in text


async def test_unknown_commands_get_help_once_per_thread(office):
    """Two unknown words are answered by one help text and two reactions."""
    issue = office.hub.open_issue(office.repo, "t")
    for word in ("explode", "dance"):
        comment = office.hub.comment(office.repo, issue.number, f"/prism {word}")
        assert await office.decide() == ([], "replied: unknown command")
        assert [reaction.content for reaction in comment.reactions] == ["confused"]
    (text,) = office.texts(issue)
    assert "no command `explode`" in text


async def test_conversation_is_ignored(office):
    """A comment without a command costs one look and nothing else."""
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.comment(office.repo, issue.number, "> /prism rerun\n\nwhat is this?")
    assert await office.decide() == ([], "ignored: no command")
    assert office.texts(issue) == []


async def test_a_locked_issue_is_refused(office):
    """Where the App may not write, the delivery ends with GitHub's reason."""
    issue = office.hub.open_issue(office.repo, "t")
    office.hub.comment(office.repo, issue.number, "/prism help")
    office.hub.lock_issue(office.repo, issue.number)
    assert (await office.decide())[1].startswith("refused: GitHub answered 403")


async def test_installations_are_kept(office):
    """Installing, adding, removing, suspending and uninstalling are rows at once."""
    hub, ledger = office.hub, office.ledger
    hub.uninstall(office.installation)
    assert (await office.decide())[1] == "noted: installation.deleted"
    assert (await installations.load(ledger, office.installation.id)).deleted
    new = hub.install([office.repo])
    await office.decide()
    assert await installations.repositories(ledger, new.id) == {office.repo.id: "acme/widgets"}
    other = hub.add_repository("gadgets")
    hub.add_to_installation(new, other)
    assert (await office.decide())[1] == "noted: installation_repositories.added"
    hub.remove_from_installation(new, office.repo)
    await office.decide()
    assert await installations.repositories(ledger, new.id) == {other.id: "acme/gadgets"}
    hub.suspend(new)
    await office.decide()
    assert (await installations.load(ledger, new.id)).suspended
    hub.unsuspend(new)
    await office.decide()
    assert not (await installations.load(ledger, new.id)).suspended


async def test_a_repository_nobody_told_of_works(office):
    """A label from an installation without a row is admitted, and the rows come into being."""
    later = office.hub.add_repository("later", "develop")
    office.hub.seed(later, {"b.py": ""})
    issue = office.hub.open_issue(later, "t")
    office.hub.add_label(later, issue.number, "prism-fix")
    run_ids, _ = await office.decide()
    assert (await runs.get(office.ledger, run_ids[0])).base_branch == "develop"
    known = await installations.repositories(office.ledger, office.installation.id)
    assert known == {later.id: "acme/later"}


@pytest.mark.parametrize("body", [{}, {"action": "labeled"}, {"issue": None}, []])
@pytest.mark.parametrize("event", ["issues", "pull_request", "issue_comment", "installation"])
async def test_malformed_payloads_are_clear_errors(ledger, event, body):
    """A body of the wrong shape raises one error that names the event, before any request."""
    delivery = Delivery("d-bad", event, "labeled", "k", 1, 1, json.dumps(body).encode())
    await inbox.insert(ledger, delivery)
    admission = Admission(ledger, Settings(), github=None)
    with pytest.raises(ValueError, match="payload cannot be read"):
        await admit(admission, "d-bad")


async def test_an_unknown_delivery_is_nothing(office):
    """A wake-up for a delivery that is not in the inbox does nothing."""
    assert await admit(office.admission, "nothing") == []
