"""The exploration as a picture: who came from whom, and which patches were the same change."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from app.messages.characters import without_invisible
from pipeline.choose.order import natural
from pipeline.values import Ballot, Candidate

COLUMNS = {"global": "explanations", "local": "variants", "synthesis": "syntheses"}
WIDTH, HEIGHT = 190, 44
GAP_X, GAP_Y, TOP, LEFT = 90, 14, 56, 16
MAX_TEXT = 28
# Told apart by most colour-blind readers; the label says the group as well.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6d31", "#999999")


@dataclass(frozen=True, slots=True)
class _Node:
    """A candidate with its place, the group it belongs to and how it ended."""

    given: Candidate
    x: int
    y: int
    label: str
    colour: str
    end: str


def exploration_svg(candidates: Sequence[Candidate], ballot: Ballot) -> str:
    """A picture of all candidates in three columns, with lines from their parents.

    Each carries its group's label and colour; the winner has a thick frame, one that passed the
    gate a plain one, one that did not a dashed one. Everything is text in one self-contained SVG
    without scripts or links.
    """
    nodes = _nodes(candidates, ballot)
    width = LEFT * 2 + len(COLUMNS) * WIDTH + (len(COLUMNS) - 1) * GAP_X
    height = max((node.y for node in nodes.values()), default=TOP) + HEIGHT + LEFT
    said = f"{len(nodes)} candidates. {ballot.rule}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>Exploration</title><desc>{_plain(said, 500)}</desc>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *(_heading(place, word) for place, word in enumerate(COLUMNS.values())),
        *(_line(nodes[p], node) for node in nodes.values() for p in _parents(node, nodes)),
        *(_box(node) for node in nodes.values()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _nodes(candidates: Sequence[Candidate], ballot: Ballot) -> dict[str, _Node]:
    clusters = ballot.clusters
    group = {member: cluster for cluster in clusters for member in cluster.members}
    colour = {cluster.label: COLOURS[min(i, 7)] for i, cluster in enumerate(clusters)}
    rows = dict.fromkeys(COLUMNS, 0)
    found: dict[str, _Node] = {}
    for given in sorted(candidates, key=lambda each: natural(each.id)):
        cluster = group.get(given.id)
        label = cluster.label if cluster else "–"
        place = list(COLUMNS).index(given.stage)
        x = LEFT + place * (WIDTH + GAP_X)
        y = TOP + rows[given.stage] * (HEIGHT + GAP_Y)
        rows[given.stage] += 1
        end = "gated" if cluster and given.id in cluster.gated else "out"
        end = "won" if given.id == ballot.winner else end
        found[given.id] = _Node(given, x, y, label, colour.get(label, COLOURS[-1]), end)
    return found


def _parents(node: _Node, nodes: dict[str, _Node]) -> list[str]:
    return [name for name in node.given.parents if name in nodes and nodes[name].x < node.x]


def _heading(place: int, word: str) -> str:
    return f'<text x="{LEFT + place * (WIDTH + GAP_X)}" y="32" font-weight="bold">{word}</text>'


def _line(parent: _Node, child: _Node) -> str:
    x1, y1 = parent.x + WIDTH, parent.y + HEIGHT // 2
    x2, y2 = child.x, child.y + HEIGHT // 2
    middle = (x1 + x2) // 2
    path = f"M{x1},{y1} C{middle},{y1} {middle},{y2} {x2},{y2}"
    return f'<path d="{path}" fill="none" stroke="#bbbbbb"/>'


def _box(node: _Node) -> str:
    style = {"won": ' stroke-width="4"', "gated": "", "out": ' stroke-dasharray="4 3"'}[node.end]
    mark = {"won": " ✓ chosen", "gated": " passed", "out": ""}[node.end]
    said = node.given.plan.summary or node.given.exit_status
    return (
        f'<g><rect x="{node.x}" y="{node.y}" width="{WIDTH}" height="{HEIGHT}" rx="6" '
        f'fill="#ffffff" stroke="{node.colour}"{style}/>'
        f'<text x="{node.x + 8}" y="{node.y + 18}" font-weight="bold">{_plain(node.given.id)} · '
        f"{_plain(node.label)}{mark}</text>"
        f'<text x="{node.x + 8}" y="{node.y + 34}" fill="#444444">{_plain(said)}</text></g>'
    )


def _plain(text: str, limit: int = MAX_TEXT) -> str:
    """A model's or harness's words as text of the picture, cut to `limit` characters."""
    words = " ".join(without_invisible(text)[0].split())
    return escape(words if len(words) <= limit else f"{words[: limit - 1]}…")
