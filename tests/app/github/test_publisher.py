"""Publishing: exactly one branch and one pull request, of exactly the verified tree."""

import asyncio
import subprocess

import pytest

from app.github import publisher
from app.github.errors import (
    GitHubUnavailable,
    PatchDoesNotApply,
    PatchRefused,
    SecretInText,
    TreeMismatch,
)
from app.github.patching import apply_patch
from app.github.publisher import Author, Branch, Change, publish
from app.github.recorder import Recorder
from app.ledger import effects
from app.ledger.errors import Fenced
from app.messages.facts import PullRequestText

PATCH = """diff --git a/src/calc.py b/src/calc.py
--- a/src/calc.py
+++ b/src/calc.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
diff --git a/tests/test_calc.py b/tests/test_calc.py
new file mode 100644
--- /dev/null
+++ b/tests/test_calc.py
@@ -0,0 +1,4 @@
+from src.calc import add
+
+def test_add():
+    assert add(1, 2) == 3
diff --git a/README.md b/README.md
deleted file mode 100644
--- a/README.md
+++ /dev/null
@@ -1 +0,0 @@
-calc
"""
WORKFLOW = """diff --git a/.github/workflows/x.yml b/.github/workflows/x.yml
new file mode 100644
--- /dev/null
+++ b/.github/workflows/x.yml
@@ -0,0 +1 @@
+on: push
"""
LINK = """diff --git a/link b/link
new file mode 120000
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+/etc/passwd
\\ No newline at end of file
"""


def compose(branch: Branch) -> PullRequestText:
    """A body that shows what the publisher told."""
    return PullRequestText("Add the numbers", f"Fixes #1\n\n{branch.moved_from or 'own branch'}")


class Desk:
    """A claimed run on the emulated site, ready to publish."""

    def __init__(self, site, ledger, claim) -> None:
        self.site = site
        self.ledger = ledger
        self.recorder = Recorder(ledger, claim.run.id, claim.epoch)
        self.issue = site.hub.open_issue(site.repo, "Adding subtracts")

    def change(self, patch: str = PATCH, **other) -> Change:
        values = {
            "run_id": self.recorder.run_id,
            "issue_number": 1,
            "branch": "prism/issue-1",
            "base_branch": "trunk",
            "base_commit": self.site.base,
            "patch": patch,
            "subject": "Add the numbers",
            "issue_author": Author("maintainer", self.site.hub.maintainer.id),
        }
        return Change(**{**values, **other})

    async def publish(self, patch: str = PATCH, text: PullRequestText | None = None, **other):
        source = await self.site.source()
        change = self.change(patch, **other)
        words = (lambda _: text) if text else compose
        async with self.site.open() as repo:
            return await publish(repo, self.recorder, source.mirror, change, words)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.site.repo.path,
            capture_output=True,
            check=True,
            text=True,
        )
        return done.stdout.strip()

    def branches(self) -> list[str]:
        listing = self.git("for-each-ref", "--format=%(refname:short)", "refs/heads")
        return [name for name in listing.splitlines() if name != "trunk"]

    def pulls(self):
        return [issue for issue in self.site.repo.issues.values() if issue.pull]


@pytest.fixture
async def desk(site, ledger, claim):
    return Desk(site, ledger, claim)


async def test_a_patch_becomes_a_draft_pull_request(desk):
    """The branch holds the verified tree on the base, with one commit that names its run."""
    published = await desk.publish()
    source = await desk.site.source()
    tree = await apply_patch(source.mirror, desk.site.base, PATCH)
    head = published.branch.commit
    assert desk.git("rev-parse", f"{head}^{{tree}}") == tree.tree
    assert desk.git("rev-parse", f"{head}^") == desk.site.base
    assert desk.git("log", "-1", "--format=%B", head).splitlines() == [
        "Add the numbers",
        "",
        "Fixes #1",
        "",
        f"Prism-Run: {desk.recorder.run_id}",
    ]
    (pull,) = desk.pulls()
    assert (published.pull.number, pull.pull.draft, pull.pull.base_ref) == (2, True, "trunk")
    assert (pull.title, pull.via_app) == ("Add the numbers", True)


async def test_effects_are_recorded(desk):
    """Branch and pull request are noted with where they are."""
    published = await desk.publish()
    branch = await effects.load(desk.ledger, desk.recorder.run_id, "branch")
    pull = await effects.load(desk.ledger, desk.recorder.run_id, "pull_request")
    assert (branch.state, branch.remote_id) == ("done", f"prism/issue-1@{published.branch.commit}")
    assert (pull.state, pull.remote_id, pull.url) == ("done", "2", published.pull.url)


async def test_publishing_again_changes_nothing(desk):
    """A restarted worker finds what there is: same branch, same commit, same pull request."""
    first = await desk.publish()
    second = await desk.publish()
    assert second == first
    assert desk.branches() == ["prism/issue-1"]
    assert len(desk.pulls()) == 1


@pytest.mark.parametrize(
    "path", ["/git/blobs$", "/git/trees$", "/git/commits$", "/git/refs$", "/pulls$"]
)
@pytest.mark.parametrize("what", ["after_commit_502", 502])
async def test_a_lost_answer_makes_nothing_twice(desk, path, what):
    """Whether the request was carried out or not, there is one branch and one pull request."""
    desk.site.hub.faults.add("POST", path, what)
    published = await desk.publish()
    assert desk.branches() == ["prism/issue-1"]
    assert [pull.number for pull in desk.pulls()] == [published.pull.number]


async def test_two_publishers_at_once_make_one(desk):
    """A zombie and the new owner side by side still leave one pull request."""
    await asyncio.gather(desk.publish(), desk.publish())
    assert desk.branches() == ["prism/issue-1"]
    assert len(desk.pulls()) == 1


async def test_an_outage_is_raised_and_repaired_by_the_next_try(desk):
    """When GitHub stays away the error says so; later the same call completes the work."""
    desk.site.hub.faults.add("POST", "/pulls$", 502, times=99)
    with pytest.raises(GitHubUnavailable):
        await desk.publish()
    desk.site.hub.faults.clear()
    await desk.publish()
    assert len(desk.pulls()) == 1


@pytest.mark.parametrize(
    ("patch", "word"), [(WORKFLOW, ".github"), (LINK, "symbolic"), ("", "empty")]
)
async def test_refused_patches_leave_no_trace(desk, patch, word):
    """The policy's reason is in the error; no request writes anything."""
    with pytest.raises(PatchRefused, match=word) as caught:
        await desk.publish(patch)
    assert caught.value.reasons
    assert desk.branches() == []
    written = [r["path"] for r in desk.site.hub.requests if r["method"] != "GET"]
    assert all(path.endswith(("access_tokens", "git-upload-pack")) for path in written)


async def test_a_text_with_a_secret_stops_everything(desk):
    """A pull request that would show a key is not made, and neither is its branch."""
    key = "ghs_123456_" + "a1B2c3D4" * 12
    with pytest.raises(SecretInText):
        await desk.publish(text=PullRequestText("Add the numbers", f"the log says {key}"))
    assert desk.branches() == []


async def test_a_patch_against_another_base_is_refused(desk):
    """What does not apply at the recorded base is never published."""
    with pytest.raises(PatchDoesNotApply):
        await desk.publish(PATCH.replace("return a - b", "return a * b"))
    assert desk.branches() == []


async def test_another_tree_is_refused(desk, monkeypatch):
    """When GitHub's tree is not the verified one, no commit, branch or pull request is made."""

    async def other_base(mirror, base_commit, patch):
        tree = await apply_patch(mirror, base_commit, patch)
        object.__setattr__(tree, "files", tree.files[:1])
        return tree

    monkeypatch.setattr(publisher, "apply_patch", other_base)
    with pytest.raises(TreeMismatch):
        await desk.publish()
    assert desk.branches() == []
    assert desk.site.requests("POST", "/git/commits") == []


async def test_a_persons_commit_is_never_overwritten(desk):
    """A branch that a person changed stays; the patch goes to a branch of its own, and says so."""
    first = await desk.publish()
    desk.site.hub.close_issue(desk.site.repo, first.pull.number)
    desk.site.hub.seed(desk.site.repo, {"mine.txt": "x"}, branch="prism/issue-1")
    theirs = desk.git("rev-parse", "prism/issue-1")
    second = await desk.publish()
    assert desk.git("rev-parse", "prism/issue-1") == theirs
    assert (second.branch.name, second.branch.moved_from) == ("prism/issue-1-b", "prism/issue-1")
    assert desk.site.repo.issues[second.pull.number].body.endswith("prism/issue-1")


async def test_a_closed_pull_request_is_not_reopened(desk):
    """Somebody's "no" stands: publishing again returns the closed one."""
    first = await desk.publish()
    desk.site.hub.close_issue(desk.site.repo, first.pull.number)
    second = await desk.publish()
    assert (second.pull.number, second.pull.state) == (first.pull.number, "closed")
    assert len(desk.pulls()) == 1


async def test_another_runs_branch_is_not_taken_over(desk):
    """The same tree under another run's name is not ours."""
    await desk.publish()
    source = await desk.site.source()
    async with desk.site.open() as repo:
        tree = await apply_patch(source.mirror, desk.site.base, PATCH)
        head = await repo.get_commit(desk.git("rev-parse", "prism/issue-1"))
    assert publisher._is_ours(head, desk.change(), tree)
    assert not publisher._is_ours(head, desk.change(run_id="r-other"), tree)


@pytest.mark.parametrize(("role", "waits"), [("write", False), ("read", True), ("none", True)])
async def test_ci_waits_unless_the_author_can_write(desk, role, waits):
    """A stranger's issue does not start the repository's CI by itself."""
    user = desk.site.hub.add_user("author", role)
    published = await desk.publish(issue_author=Author("author", user.id))
    message = desk.git("log", "-1", "--format=%B", published.branch.commit)
    assert published.branch.ci_held is waits
    assert ("[skip ci]" in message) is waits


async def test_ci_waits_when_the_author_is_unknown(desk):
    """No answer about the author, or another person under the login, means wait."""
    desk.site.hub.faults.add("GET", "/permission$", 500, times=99)
    published = await desk.publish()
    assert published.branch.ci_held


async def test_held_patches_are_published_with_their_reasons(desk):
    """A change that a person has to look at is a draft with CI waiting."""
    published = await desk.publish(
        "diff --git a/setup.py b/setup.py\nnew file mode 100644\n--- /dev/null\n+++ b/setup.py\n"
        "@@ -0,0 +1 @@\n+name = 'x'\n"
    )
    assert any("setup.py" in reason for reason in published.branch.held)
    assert published.branch.ci_held


async def test_a_lost_run_publishes_nothing(desk):
    """Under an old epoch nothing is written to GitHub."""
    desk.recorder = Recorder(desk.ledger, desk.recorder.run_id, desk.recorder.epoch - 1)
    with pytest.raises(Fenced):
        await desk.publish()
    assert desk.branches() == []


async def test_without_drafts_it_is_an_ordinary_pull_request(desk):
    """Plans that know no drafts still get their pull request."""
    desk.site.hub.faults.add(
        "POST", "/pulls$", 422, message="Draft pull requests are not supported in this repository."
    )
    published = await desk.publish()
    assert not published.pull.draft
    assert len(desk.pulls()) == 1
