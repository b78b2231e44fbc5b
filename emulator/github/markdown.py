"""Markdown as GitHub shows it in conversations: tables, line breaks, `#12`, folded sections.

HTML is written by strangers: a few harmless tags pass without their attributes, the rest is
shown as text; comments vanish as they do on GitHub.
"""

import html
import re
from collections.abc import MutableMapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

_ALLOWED = frozenset(
    re.findall(
        r"\w+",
        "b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li ol p "
        "pre s samp strong sub summary sup table tbody td th thead tr ul",
    )
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)([^<>]*)>")
_NUMBER = re.compile(r"(?<![\w&/])#(\d+)\b")


def render(text: str | None, page: str) -> Markup:
    """HTML of a body; `#12` leads to an issue below `page` (the repository's address)."""
    return Markup(_MARKDOWN.render(text or "", {"page": page}))  # noqa: S704 - cleaned below


def title(text: str) -> Markup:
    """A title with its `code` as code, and nothing else of Markdown."""
    escaped = html.escape(text, quote=False)
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))  # noqa: S704 - escaped


def clean_html(text: str) -> str:
    """Raw HTML with only harmless tags left, everything else made visible as text."""
    text = _COMMENT.sub("", text)
    out, end = [], 0
    for tag in _TAG.finditer(text):
        out.append(_escape(text[end : tag.start()]))
        name = tag[2].lower()
        if name in _ALLOWED:
            is_open = name == "details" and not tag[1] and re.search(r"\bopen\b", tag[3])
            out.append(f"<{tag[1]}{name}{' open' if is_open else ''}>")
        else:
            out.append(html.escape(tag[0]))
        end = tag.end()
    out.append(_escape(text[end:]))
    return "".join(out)


def _escape(text: str) -> str:
    # Entities were written on purpose; only brackets can start a tag.
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _html(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    return clean_html(tokens[index].content)


def _text(
    _: Any, tokens: Sequence[Token], index: int, __: Any, env: MutableMapping[str, Any]
) -> str:
    escaped = html.escape(tokens[index].content, quote=False)
    return _NUMBER.sub(rf'<a href="{env["page"]}/issues/\1">#\1</a>', escaped)


def _image(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    # Nothing is loaded from elsewhere: a picture is shown as a link to it.
    token = tokens[index]
    text = renderer.renderInlineAsText(token.children, options, env)
    address = html.escape(str(token.attrs.get("src", "")))
    return f'<a href="{address}">{html.escape(text or "image")}</a>'


def _make() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": True, "breaks": True})
    markdown.enable(["table", "strikethrough"])
    markdown.add_render_rule("html_block", _html)
    markdown.add_render_rule("html_inline", _html)
    markdown.add_render_rule("text", _text)
    markdown.add_render_rule("image", _image)
    return markdown


_MARKDOWN = _make()
