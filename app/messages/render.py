"""Every text a user sees, one template each; the only module that imports jinja2."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from app.messages import groups, view
from app.messages.confidence import confidence
from app.messages.facts import (
    Failure,
    PullRequestText,
    Removal,
    RunFacts,
    SetupFailure,
    Spent,
    StageState,
)
from app.messages.outgoing import LIMIT, code, fenced, inline, title
from pipeline.services import PipelineStage
from pipeline.values import Decision, Task, Usage

COMMANDS = (
    ("/prism rerun", "a new attempt on a branch of its own"),
    ("/prism help", "what Prism understands"),
)
"""What users can type today; every text lists these and nothing else."""

STAGES: tuple[tuple[PipelineStage, str], ...] = (
    ("environment", "environment"),
    ("global", "explore"),
    ("local", "vary"),
    ("synthesis", "combine"),
    ("code", "write patches"),
    ("verify", "verify"),
    ("vote", "vote"),
    ("publish", "publish"),
)


def status(
    facts: RunFacts,
    stages: Sequence[StageState] = (),
    usage: Usage | None = None,
    elapsed_s: float = 0.0,
) -> str:
    """The status comment while the run works."""
    known = {state.stage: state for state in stages}
    shown = [_stage(name, known.get(stage)) for stage, name in STAGES]
    return _render("status", facts=facts, stages=shown, usage=usage or Usage(), elapsed_s=elapsed_s)


def opened(facts: RunFacts, number: int, decision: Decision, usage: Usage, elapsed_s: float) -> str:
    """The status comment's end when there is a pull request."""
    agreement = groups.agreement(decision)
    return _end("opened", facts, usage, elapsed_s, number=number, agreement=agreement)


def no_patch(facts: RunFacts, decision: Decision, usage: Usage, elapsed_s: float) -> str:
    """The status comment's end when no candidate deserved a pull request: the findings."""
    return _end(
        "no_patch",
        facts,
        usage,
        elapsed_s,
        explanations=_explanations(decision),
        **_about(decision),
    )


def failed(
    facts: RunFacts, failure: Failure, usage: Usage | None = None, elapsed_s: float = 0.0
) -> str:
    """The status comment's end when Prism could not do its work."""
    return _end("failed", facts, usage or Usage(), elapsed_s, failure=failure)


def no_environment(facts: RunFacts, failure: SetupFailure, usage: Usage, elapsed_s: float) -> str:
    """The status comment's end when the repository could not be set up."""
    return _end("no_environment", facts, usage, elapsed_s, failure=failure)


def waiting(facts: RunFacts, cause: str, usage: Usage, elapsed_s: float) -> str:
    """The status comment while something outside does not answer; the run goes on by itself."""
    return _end("waiting", facts, usage, elapsed_s, cause=cause)


def budget_reached(facts: RunFacts, decision: Decision, usage: Usage, elapsed_s: float) -> str:
    """The status comment's end when the run's money is used up: how far it came."""
    return _end(
        "budget",
        facts,
        usage,
        elapsed_s,
        reached=view.written(decision),
        explanations=_explanations(decision),
    )


def refused(facts: RunFacts, reasons: Sequence[str], usage: Usage, elapsed_s: float) -> str:
    """The status comment's end when the patch policy refused the winner."""
    return _end("refused", facts, usage, elapsed_s, reasons=reasons)


def pull_request(
    facts: RunFacts,
    decision: Decision,
    usage: Usage,
    elapsed_s: float,
    *,
    moved_from: str = "",
    ci_held: bool = False,
    held: Sequence[str] = (),
    costs: Mapping[str, Usage] | None = None,
) -> PullRequestText:
    """The pull request of a decision with a winner; at most 60,000 characters.

    `moved_from` names the branch a person had changed, `held` the policy's reasons to look
    closely, `ci_held` that CI waits for a person, `costs` what each stage used.
    """
    assert decision.ballot.winner is not None
    fields = {
        **_about(decision),
        "facts": facts,
        "usage": usage,
        "elapsed_s": elapsed_s,
        "moved_from": moved_from,
        "ci_held": ci_held,
        "held": held,
        "costs": cost_rows(costs or {}),
    }
    body = _render("pull_request", **fields)
    if len(body) > LIMIT:
        body = _render("pull_request", **{**fields, "exploration": "", "dissent": ()})
    return PullRequestText(pull_request_title(facts, decision), bounded(body))


def run_page(facts: RunFacts, decision: Decision, spent: Spent) -> str:
    """The run page's body in Markdown: what the pull request says, and every candidate."""
    return _render(
        "run_page",
        **_about(decision),
        facts=facts,
        usage=spent.usage,
        elapsed_s=spent.elapsed_s,
        timing=spent.timing,
        held=view.held(decision),
        candidates=view.candidate_rows(decision),
        costs=cost_rows(spent.costs),
    )


def local_report(
    task: Task, decision: Decision, usage: Usage, timing: str = "", *, scripted: bool = False
) -> str:
    """The report of a run on a local repository, with or without a patch.

    `timing` says what it waited for; `scripted`: the model is one of this machine, so nothing was
    paid.
    """
    winner = view.winner_of(decision)
    return bounded(
        _render(
            "local_report",
            heading=title(winner.plan.summary if winner else f"No patch: {task.title}"),
            task=task,
            usage=usage,
            timing=timing,
            scripted=scripted,
            held=view.held(decision),
            explanations=_explanations(decision),
            **_about(decision),
        )
    )


def pull_request_title(facts: RunFacts, decision: Decision) -> str:
    """A title from the winner's plan, at most 72 characters; in our own words when it has none."""
    winner = view.winner_of(decision)
    text = title(winner.plan.summary) if winner is not None else ""
    return text or f"Fix issue {facts.issue_number}"


def label_on_pull_request(label: str) -> str:
    """The reply to the label on a pull request."""
    return _render("label_on_pull_request", label=label)


def help_text(label: str, unknown: str = "") -> str:
    """The commands; `unknown` is a word that is none of them."""
    return _render("help", label=label, unknown=unknown)


def empty_repository(branch: str, label: str) -> str:
    """The reply when the default branch has no commit."""
    return _render("empty_repository", branch=branch, label=label)


def bounded(text: str, limit: int = LIMIT) -> str:
    """At most `limit` characters, with code blocks and folded parts closed."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 200]
    cut = cut[: cut.rfind("\n")]
    fence = ""
    for line in cut.split("\n"):
        marker = line[: len(line) - len(line.lstrip("`"))]
        if len(marker) >= 3:
            fence = "" if fence and line.strip() == fence else fence or marker
    closing = f"\n{fence}" if fence else ""
    folds = cut.count("<details>") - cut.count("</details>")
    return (
        cut + closing + "\n</details>" * folds + "\n\n*The rest was cut: it does not fit here.*\n"
    )


def cost_rows(costs: Mapping[str, Usage]) -> tuple[tuple[str, Usage], ...]:
    """What the stages used, in the order of the run; what is filed under none comes last."""
    names = dict[str, str](STAGES)
    known = [(names[stage], costs[stage]) for stage in names if stage in costs]
    other = [(stage or "other", used) for stage, used in costs.items() if stage not in names]
    return tuple(known + other)


def _about(decision: Decision) -> dict[str, Any]:
    """What the parts about change, checks and vote are filled with."""
    return {
        "decision": decision,
        "winner": view.winner_of(decision),
        "files": view.files_changed(decision),
        "checks": view.check_rows(decision),
        "suite_note": view.suite_note(decision),
        "groups": groups.group_rows(decision),
        "agreement": groups.agreement(decision),
        "origins": view.origins(decision),
        "confidence": confidence(decision),
        "dissent": groups.dissent(decision),
        "synthesised": view.synthesised(decision),
        "contested": view.contested(decision),
        "counted": view.counted(decision),
        "exploration": fenced(view.exploration(decision)),
    }


def _end(template: str, facts: RunFacts, usage: Usage, elapsed_s: float, **more: Any) -> str:
    text = _render(template, facts=facts, usage=usage, elapsed_s=elapsed_s, **more)
    return bounded(text)


def _stage(name: str, state: StageState | None) -> str:
    if state is None:
        return f"☐ {name}"
    if state.total and state.done >= state.total:
        amount = f": {state.total}" if state.total > 1 else ""
        note = f" ({inline(state.note, 160)})" if state.note else ""
        return f"✔ {name}{amount}{note}"
    amount = f": {state.done} of {state.total}" if state.total > 1 else ""
    return f"▸ {name}{amount}"


def _explanations(decision: Decision) -> tuple[str, ...]:
    globals_ = [c for c in decision.candidates if c.stage == "global"]
    return tuple(f"**{c.id}**: {inline(c.plan.solution.root_cause, 400)}" for c in globals_)


def _removed(removed: Sequence[Removal]) -> str:
    """Hidden text in words: how often which kind, with the start of the first."""
    told = []
    for entry in removed:
        sample = f" ({code(entry.sample, 80)})" if entry.sample else ""
        told.append(f"{entry.count} × {entry.kind}{sample}")
    return ", ".join(told)


def _login(login: str) -> str:
    """A person's login as a mention; anything that is no login becomes code."""
    is_login = len(login) <= 40 and login.replace("-", "").isalnum() and login.isascii()
    return f"@{login}" if is_login else code(login)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _tokens(usage: Usage) -> str:
    total = usage.input_tokens + usage.output_tokens
    amount = f"{total} tokens" if total < 1000 else f"{total / 1000:,.0f} k tokens"
    return f"{amount} ({usage.cached_share:.0%} of the input cached)"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # Markdown, not HTML: values are made harmless by `outgoing`, not by HTML escapes.
    environment = Environment(  # noqa: S701
        loader=PackageLoader("app.messages"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters |= {
        "code": code,
        "inline": inline,
        "fenced": fenced,
        "login": _login,
        "duration": _duration,
        "number": "{:,}".format,
        "tokens": _tokens,
        "removed": _removed,
    }
    environment.globals["commands"] = COMMANDS
    return environment


def _render(template: str, **values: Any) -> str:
    text = _environment().get_template(f"{template}.md.j2").render(**values).strip()
    return re.sub(r"\n{3,}", "\n\n", text) + "\n"
