"""A decision as the body of its run page; the only module that imports markdown_it."""

from collections.abc import Callable

from markdown_it import MarkdownIt

from app.messages import render
from app.messages.facts import RunFacts, Spent
from app.messages.picture import exploration_svg
from pipeline.values import Decision


def run_page(
    facts: RunFacts,
    decision: Decision,
    spent: Spent,
    check: Callable[[str, str], None],
) -> str:
    """HTML without scripts, links and images, of texts that `check` lets out."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.disable(["link", "image", "autolink"])
    text = render.run_page(facts, decision, spent)
    picture = exploration_svg(decision.candidates, decision.ballot)
    check(text, picture)
    return f"{markdown.render(text)}<h3>Exploration</h3><figure>{picture}</figure>"
