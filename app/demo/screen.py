"""What the demo shows: what it is, how far the run is, and the pull request."""

from collections import Counter
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.panel import Panel
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table

from app.demo.report import Seen

STAGES = {
    "environment": "prepare the repository and run its tests",
    "global": "explore: different explanations",
    "local": "vary: other repairs of each",
    "synthesis": "combine: review and judge",
    "code": "write a patch for every plan",
    "verify": "run tests in fresh copies",
    "vote": "vote",
    "publish": "publish",
}


def welcome(console: Console, issue_url: str, sandbox: str, scripted: bool) -> None:
    """Say what is real here and what is not."""
    model = (
        "[bold]scripted[/]: its answers were written beforehand, no model is asked"
        if scripted
        else "real, and it costs real money"
    )
    isolation = {
        "container": "containers without network",
        "none": "[bold red]not isolated[/]: plain processes, because no container engine is used",
    }[sandbox]
    console.print(
        Panel(
            f"A real bug in a real project (tenacity 9.1.4) on an emulated GitHub.\n"
            f"The model is {model}.\nThe sandbox: {isolation}.\nThe issue: {issue_url}",
            title="Prism demo",
        )
    )


def progress(seen: Seen | None, elapsed_s: float) -> RenderableType:
    """A table of the stages with finished and started items."""
    table = Table(box=None, pad_edge=False)
    for heading in ("", "stage", "items"):
        table.add_column(heading)
    items = seen.items if seen is not None else ()
    finished = Counter(each.stage for each in items if each.finished_at is not None)
    started = Counter(each.stage for each in items)
    for stage, words in STAGES.items():
        done = started[stage] and finished[stage] == started[stage]
        mark = "[green]✔" if done else "[yellow]▸" if started[stage] else "[dim]☐"
        count = f"{finished[stage]} of {started[stage]}" if started[stage] else ""
        table.add_row(mark, words, count)
    calls = seen.usage.calls if seen is not None else 0
    state = seen.run.state if seen is not None else "waiting for the delivery"
    return Group(table, f"[dim]{elapsed_s:.0f} s · {calls} model calls · {state}[/]")


def pull_request(console: Console, shown: dict[str, Any], patch: str) -> None:
    """The pull request as a reader of the page sees it, and its diff."""
    draft = " · draft" if shown["draft"] else ""
    console.print(Rule(f"Pull request #{shown['number']}{draft}: {shown['title']}"))
    console.print(Markdown(shown["body"]))
    console.print(Rule("Diff"))
    console.print(Syntax(patch, "diff", theme="ansi_dark", word_wrap=True))
    console.print(f"[bold]Pull request:[/] {shown['html_url']}")
