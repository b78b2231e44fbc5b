"""The texts users see: complete, honest, bounded, and only with commands that work."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from app.admission.commands import COMMANDS as PARSED
from app.failures import setup_failure_of
from app.messages import render
from app.messages.facts import Failure, SetupFailure, Spent, StageState
from pipeline.errors import NoEnvironment
from pipeline.values import Ballot, Confidence, Gate, PolicyVerdict, Task, Usage
from sandbox.patch.patch import combine

MARKDOWN = MarkdownIt("commonmark").enable("table")
TEMPLATES = Path(render.__file__).parent / "templates"
FAILURE = Failure("environment", "The set-up ended with 1.", "Nothing was changed.")


def everything(facts, decision, usage) -> dict[str, str]:
    """Every text there is, by template."""
    pull = render.pull_request(
        facts,
        decision,
        usage,
        1900.0,
        moved_from="prism/issue-7",
        ci_held=True,
        held=("setup.py: x",),
        costs={"code": usage, "global": Usage(3, 900, 450, 40, 0.21)},
    )
    lost = replace(decision, outcome="no_patch", patch="", ballot=no_winner(decision))
    task = Task("acme/widgets", None, "Title", "Body", facts.base_commit)
    return {
        "status": render.status(facts, (StageState("global", 1, 3, "x"),), usage, 60.0),
        "opened": render.opened(facts, 9, decision, usage, 1900.0),
        "no_patch": render.no_patch(facts, lost, usage, 1900.0),
        "failed": render.failed(facts, FAILURE, usage, 5.0),
        "budget": render.budget_reached(facts, lost, usage, 5.0),
        "no_environment": render.no_environment(facts, setup_failure(decision), usage, 5.0),
        "waiting": render.waiting(facts, "The model API did not answer.", usage, 5.0),
        "refused": render.refused(facts, ("x: y",), usage, 5.0),
        "label_on_pull_request": render.label_on_pull_request(facts.label),
        "help": render.help_text(facts.label, "explode"),
        "empty_repository": render.empty_repository("trunk", facts.label),
        "pull_request": pull.body,
        "run_page": render.run_page(facts, decision, Spent(usage, 60.0, {"code": usage})),
        "local_report": render.local_report(task, decision, usage),
        "local_report without a patch": render.local_report(task, lost, usage),
    }


def setup_failure(decision) -> SetupFailure:
    """A set-up that failed, with the decision's own text in all that a repository can write."""
    (text,) = decision.notes
    denied = ("files.example.org", text)
    return SetupFailure(
        text, text, "exit code 3", text, denied, text, ("Comment `/prism rerun`.",), text
    )


def no_winner(decision) -> Ballot:
    """The same ballot when nobody passed the gate."""
    clusters = tuple(replace(cluster, gated=()) for cluster in decision.ballot.clusters)
    gates = tuple(Gate(c.id, ("It breaks 3 tests.",)) for c in decision.candidates)
    return Ballot(clusters, gates, None, "No candidate passed the gate.")


def test_every_template_is_rendered(facts, decision, usage):
    """No text is left without a test, and all names in it exist."""
    texts = everything(facts, decision, usage)
    whole = {path.name.removesuffix(".md.j2") for path in TEMPLATES.glob("[a-z]*.md.j2")}
    assert whole == {name.partition(" ")[0] for name in texts}
    assert all(text.strip() for text in texts.values())


def test_only_commands_that_work_are_named(facts, decision, usage):
    """Every `/prism …` in any text is a command the parser knows."""
    for text in everything(facts, decision, usage).values():
        assert set(re.findall(r"/prism (\w+)", text)) <= set(PARSED)


def test_the_evidence_is_in_the_pull_request(facts, decision, usage):
    """Before and after of reproduction and suite, the vote, its rule, and the excluded test."""
    body = render.pull_request(facts, decision, usage, 1900.0).body
    assert body.startswith("Fixes #7 · requested by @maintainer · draft until")
    assert "| reproduction `test_plain` (added) | ✗ fails ×2 | ✓ passes |" in body
    assert (
        "| 157 tests pass, 0 fail before any change (`pytest -q`, 148 s) | 156 pass, 1 changed"
        in body
    )
    assert "### How it was chosen – 3 of 5 candidates in the winning group" in body
    assert "| **A** (G1, L1.1, S1) | **3** |" in body
    assert (
        "| B (G2) | 1 | plain summary of G2 | 0 of 1 reproduction, 1 regression | rejected |"
        in body
    )
    assert "no patch, the coder ended with `submitted`" in body
    assert "`tests/test_old.py::test_wrong` – the issue says “plain”" in body
    assert "`src/calc.py` from G1, L2.2" in body
    assert "$1.84, 32 min, 412 k tokens (88% of the input cached)" in body


@pytest.mark.parametrize("probability", [None, 0.8642])
def test_confidence_is_a_band_until_it_is_calibrated(facts, decision, usage, probability):
    """The band with its counts; a number only where there is a calibrated one."""
    sure = Confidence("fair", 2, 3, 4, 5, 2.4, True, probability, 83)
    ballot = replace(decision.ballot, confidence=sure)
    body = render.pull_request(facts, replace(decision, ballot=ballot), usage, 60.0).body
    told = ", about 86 % by this installation's last 83 pull requests"
    number = "" if probability is None else told
    assert (
        f"**Confidence: fair{number}.** The winning change is that of 3 candidates, from 2" in body
    )
    assert "4 of 5 candidates apply, parse" in body
    assert "Confidence:" not in render.pull_request(facts, decision, usage, 60.0).body


def test_how_the_winner_came_about(facts, decision, usage):
    """What the synthesis left out, how a tie ended and what was not run stand in the text."""
    body = render.pull_request(facts, decision, usage, 60.0).body
    for said in ("What the synthesis left out", "`G2` had", "did not hold", "The tie was decided"):
        assert said in body
    assert "nobody (low)" in body
    assert "**Not run.**" in body
    plain = replace(
        decision,
        candidates=tuple(replace(each, synthesis=None) for each in decision.candidates),
        contest=None,
        not_run=(),
    )
    body = render.pull_request(facts, plain, usage, 60.0).body
    for said in ("What the synthesis left out", "The tie was decided", "Not run"):
        assert said not in body


@pytest.mark.parametrize(
    ("files", "added"),
    [
        ({"tests/test_new.py": "plain"}, True),
        ({"tests/test_new_s1.py": "plain"}, True),  # its name was taken
        ({"tests/test_new.py": "other"}, False),
        ({"tests/test_new_g1.py": "plain"}, False),
        ({"src/calc.py": "test_new"}, False),
    ],
)
def test_only_published_reproductions_are_added(facts, decision, usage, files, added):
    """The patch adds a file of that name, or of its evasive name, with that very text."""
    shown = replace(decision, patch=combine("", files))
    body = render.pull_request(facts, shown, usage, 1.0).body
    assert ("(added)" in body) is added


def test_files_are_counted_from_the_patch(facts, decision, usage):
    """Whatever the plan says: every file with its added and removed lines, the rest as a number."""
    patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1 @@\n-x\n-y\n+z\n"
    shown = replace(decision, patch=combine(patch, {"b.py": "1\n2\n3\n"}))
    body = render.pull_request(facts, shown, usage, 1.0).body
    assert "\nFiles: `a.py` +1 −2, `b.py` +3 −0\n" in body
    many = replace(decision, patch=combine("", {f"{n:02}.py": "1\n" for n in range(23)}))
    assert "`19.py` +1 −0 and 3 more files" in render.pull_request(facts, many, usage, 1.0).body


@pytest.mark.parametrize(
    ("patches", "said"),
    [
        (0, "No patch was written."),
        (1, "1 patch was written; it did not pass every check."),
        (4, "4 patches were written; none passed every check."),
    ],
)
def test_the_end_of_the_budget_counts_real_patches(facts, decision, usage, patches, said):
    """Empty patches are none, and what was found out is told."""
    candidates = tuple(
        replace(each, patch="diff" if n < patches else "")
        for n, each in enumerate(decision.candidates)
    )
    lost = replace(decision, candidates=candidates, patch="", ballot=no_winner(decision))
    text = render.budget_reached(facts, lost, usage, 5.0)
    assert said in text
    assert "- **G1**: plain cause of G1" in text


def test_reasons_to_look_closely_are_in_the_local_report(facts, decision, usage):
    """The winner's, and only the winner's."""
    task = Task("acme/widgets", None, "Title", "Body", facts.base_commit)
    for name, told in (("S1", True), ("G2", False)):
        seen = replace(decision.evidence[name], policy=PolicyVerdict(held=("setup.py: a script",)))
        shown = replace(decision, evidence={**decision.evidence, name: seen})
        assert ("- setup.py: a script" in render.local_report(task, shown, usage)) is told


@pytest.mark.parametrize("scripted", [True, False])
def test_scripted_runs_cost_nothing(facts, decision, usage, scripted):
    """The sum is shown with what it stands for, wherever a result is told."""
    task = Task("acme/widgets", None, "Title", "Body", facts.base_commit)
    told = replace(facts, scripted_model=scripted)
    for text in (
        render.pull_request(told, decision, usage, 1.0).body,
        render.local_report(task, decision, usage, scripted=scripted),
        render.run_page(told, decision, Spent(usage, 1.0, {})),
    ):
        assert ("$1.84 at list prices; nothing was paid, " in text) is scripted
        assert ("**Scripted model:**" in text) is scripted


def test_missing_evidence_is_never_a_pass(facts, decision, usage):
    """A winner whose suite gave no verdict and whose reproduction did not run is shown so."""
    bare = replace(decision.evidence["S1"], regression_ran=False, reproductions={}, excluded=())
    shown = replace(decision, evidence={**decision.evidence, "S1": bare})
    body = render.pull_request(facts, shown, usage, 10.0).body
    assert "| ✗ fails ×2 | not run |" in body
    assert "| no verdict |" in body


@pytest.mark.parametrize("text", ["pull_request", "run_page", "local_report", "no_patch"])
def test_what_was_left_out_has_a_heading_of_its_own(facts, decision, usage, text):
    """Else Markdown joins it to the list above, as one more reason why somebody lost."""
    shown = replace(decision, not_run=("S3: enough agreed.",), notes=("The index is old.",))
    said = everything(facts, shown, usage)[text]
    assert "\n\n**Not run.**\n- S3: enough agreed.\n" in said
    assert "\n\n**Notes.**\n- The index is old.\n" in said


def test_tests_that_were_not_run_are_counted(facts, decision, usage):
    """A suite that ran in part says how much of it, and why; it is no plain "no regression"."""
    note = "The suite takes 700 s on the base: 38 of 40 tests were run."
    part = replace(decision.evidence["S1"], regression_passed=38, not_run=2, note=note, lost=())
    shown = replace(decision, evidence={**decision.evidence, "S1": part})
    body = render.pull_request(facts, shown, usage, 10.0).body
    assert "38 pass, **2 not run**" in body
    assert "no regression in 38 of 40 tests" in body
    assert note in body


def test_what_a_person_should_know_stands_first(facts, decision, usage, removal):
    """No isolation, a scripted model, hidden text, held reasons and a moved branch come early."""
    told = replace(facts, isolation="none", scripted_model=True, removed=(removal,))
    body = render.pull_request(
        told,
        decision,
        usage,
        1.0,
        moved_from="prism/issue-7",
        ci_held=True,
        held=("setup.py: a script",),
    ).body
    head = body[: body.index("**What was wrong.**")]
    for words in (
        "Not isolated",
        "Scripted model",
        "2 × HTML comment",
        "setup.py",
        "prism/issue-7",
    ):
        assert words in head
    assert "[skip ci]" in body


def test_quiet_runs_have_no_warnings(facts, decision, usage):
    """Without hidden text, holds and moves none of these words appear."""
    body = render.pull_request(facts, decision, usage, 1.0).body
    for words in (
        "Not isolated",
        "Scripted model",
        "Hidden in the issue",
        "look closely",
        "skip ci",
    ):
        assert words not in body


def test_hostile_texts_act_nowhere(facts, evil_decision, usage, removal):
    """With hostile text in every field, only our own references and mention are live."""
    told = replace(facts, removed=(removal,))
    for name, text in everything(told, evil_decision, usage).items():
        inside = [t for t in MARKDOWN.parse(text) if t.type == "inline"]
        kinds = {child.type for token in inside for child in token.children}
        assert not kinds & {"link_open", "image"}, name
        plain = "\n".join(c.content for t in inside for c in t.children if c.type == "text")
        assert set(re.findall(r"@[\w/]+", plain)) <= {"@maintainer"}, name
        assert set(re.findall(r"\w*/?\w*#\d+", plain)) <= {"#7", "#9"}, name
        html = "".join(c.content for t in inside for c in t.children if c.type == "html_inline")
        assert set(re.findall(r"<[^>]*>", html)) <= {
            "<sub>", "</sub>", "<details>", "</details>", "<summary>", "</summary>",
        }, name  # fmt: skip
        blocks = "".join(t.content for t in MARKDOWN.parse(text) if t.type == "html_block")
        assert "img" not in blocks, name
        assert "hidden" not in blocks, name


def test_tables_keep_their_columns(facts, evil_decision, usage):
    """Hostile text does not add cells to the vote table."""
    body = render.pull_request(facts, evil_decision, usage, 1.0).body
    tokens = MARKDOWN.parse(body)
    cells = [len(re.findall("<t[dh]>", row)) for row in MARKDOWN.render(body).split("<tr>")[1:]]
    assert any(token.type == "table_open" for token in tokens)
    assert sorted(set(cells)) == [3, 5]


def test_titles_come_from_the_plan(facts, decision, evil_decision):
    """At most 72 characters; an empty summary gives our own words."""
    assert render.pull_request_title(facts, decision) == "plain summary of S1"
    assert len(render.pull_request_title(facts, evil_decision)) <= 72
    winner = decision.candidates[2]
    empty = replace(winner, plan=replace(winner.plan, summary=" @ "))
    shown = replace(decision, candidates=(*decision.candidates[:2], empty))
    assert render.pull_request_title(facts, shown) == "Fix issue 7"


def test_the_largest_pull_request_fits(facts, decision, usage):
    """Many long texts stay below 60,000 characters and close what they open."""
    winner = decision.candidates[2]
    long = replace(winner.plan, summary="word " * 400)
    many = tuple(replace(winner, id=f"L{n}.1", plan=long) for n in range(300))
    shown = replace(decision, candidates=(*decision.candidates, *many), notes=("note " * 60,) * 200)
    body = render.pull_request(facts, shown, usage, 1.0).body
    assert len(body) <= 60_000
    assert body.count("<details>") == body.count("</details>")


@pytest.mark.parametrize("limit", range(300, 900, 37))
def test_a_cut_closes_fences_and_folds(limit):
    """Wherever the cut falls, code blocks and folded parts end before our own words."""
    text = (
        "intro\n\n<details><summary>x</summary>\n\n````text\n"
        + "```\nline\n" * 200
        + "````\n\n</details>\n"
    )
    cut = render.bounded(text, limit)
    assert len(cut) <= limit
    assert cut.count("<details>") == cut.count("</details>")
    last = [token for token in MARKDOWN.parse(cut) if token.type == "inline"][-1]
    assert last.content == "*The rest was cut: it does not fit here.*"


def test_stages_are_told_apart(facts):
    """Waiting, working and finished stages have their signs, counts and notes."""
    stages = (
        StageState("environment", 1, 1, "pip"),
        StageState("global", 3, 3),
        StageState("code", 2, 12),
    )
    text = render.status(facts, stages, Usage(cost_usd=0.84), 540.0)
    assert (
        "✔ environment (pip) · ✔ explore: 3 · ☐ vary · ☐ combine · ▸ write patches: 2 of 12" in text
    )
    assert "$0.84 of $5.00 · 9 min" in text


def test_logins_that_are_none_are_no_mentions(facts):
    """Only what can be a login is mentioned."""
    text = render.waiting(replace(facts, requested_by="a b@c"), "It waits.", Usage(), 1.0)
    assert "asked by `a b@c`" in text


def test_logs_of_failures_stay_readable(facts):
    """The end of a set-up's log is a block, not one long line."""
    text = render.failed(facts, Failure("environment", "It failed.", log="line 1\nline 2"))
    assert "```text\nline 1\nline 2\n```" in text


def test_a_failed_setup_is_told_with_what_can_be_done(facts, decision, usage):
    """The line, its end, the refused hosts, the log as a block, and the keys that help."""
    error = NoEnvironment(
        "Set-up line `pip install x` ended with 1.",
        line="pip install x",
        exit_code=1,
        log="\n".join(f"line {n}" for n in range(900)) + "\n``` fence",
        denied=("files.example.org",),
        origin="pyproject.toml",
        agent="The set-up agent gave up: no.",
    )
    text = render.no_environment(facts, setup_failure_of(error), usage, 5.0)
    assert "| set-up line | `pip install x` |" in text
    assert "| how it ended | exit code 1 |" in text
    assert "| hosts it was refused | `files.example.org` |" in text
    assert "````text\nline 886\n" in text
    for words in ("`env.hosts`", "`PRISM_SETUP_HOSTS`", "`env.untested: true`", "`/prism rerun`"):
        assert words in text
    quiet = setup_failure_of(
        NoEnvironment("x", line="a", exit_code=None, log="", denied=(), origin="b", agent="")
    )
    text = render.no_environment(facts, quiet, usage, 5.0)
    assert "it did not end in time" in text
    assert "refused" not in text
    assert "PRISM_SETUP_HOSTS" not in text


@pytest.mark.parametrize("untested", ["", "The set-up ended with 1."])
def test_a_change_that_no_test_spoke_for_says_so_first(facts, decision, usage, untested):
    """In every text that shows a result, and only then."""
    shown = replace(decision, untested=untested)
    texts = everything(facts, shown, usage)
    for name in ("pull_request", "local_report", "no_patch"):
        told = "**No test of this repository was run**" in texts[name]
        assert told is bool(untested), name
    if untested:
        body = texts["pull_request"]
        assert body.index("No test of this repository") < body.index("**What was wrong.**")


def test_a_found_setup_can_be_copied(facts, decision, usage):
    """The text for `.github/prism.yml` stands in a block of its own, exactly as it is."""
    shown = replace(decision, pin="env:\n  setup:\n    - make deps\n  test: make check\n")
    body = render.pull_request(facts, shown, usage, 1.0).body
    assert "```text\nenv:\n  setup:\n    - make deps\n  test: make check\n```" in body
    assert "set-up agent" not in render.pull_request(facts, decision, usage, 1.0).body


def test_the_pull_request_says_what_each_stage_cost(facts, decision, usage):
    """One row for each stage that made calls, in the order of the run and not of the ledger."""
    body = everything(facts, decision, usage)["pull_request"]

    costs = body.partition("What it cost")[2].partition("</details>")[0]
    rows = [line for line in costs.splitlines() if line.startswith("| ")][1:]

    assert rows == [
        "| explore | 3 | 900 | 50 % | 40 | $0.21 |",
        "| write patches | 90 | 400,000 | 88 % | 12,000 | $1.84 |",
    ]


@pytest.mark.parametrize("text", ["pull_request", "local_report", "run_page"])
def test_what_should_happen_stands_between_cause_and_change(facts, decision, usage, text):
    """All parts of the explanation that won are told, in the order in which they are read."""
    body = everything(facts, decision, usage)[text]
    places = [body.index(f"**What {each}.**") for each in ("was wrong", "should happen", "changes")]
    assert places == sorted(places)
