"""The picture of an exploration is one harmless file that shows every candidate once."""

from dataclasses import replace
from xml.etree import ElementTree

from app.messages.picture import exploration_svg

SVG = "{http://www.w3.org/2000/svg}"


def test_every_candidate_has_its_box_group_and_parents(decision):
    """Boxes with id and group, lines from parents that are there, one thick frame."""
    root = ElementTree.fromstring(exploration_svg(decision.candidates, decision.ballot))
    boxes = ["".join(each.itertext()) for each in root.iter(f"{SVG}g")]
    assert len(boxes) == len(decision.candidates)
    assert boxes[0].startswith("G1 · A passed")
    assert next(box for box in boxes if "✓ chosen" in box).startswith("S1 · A")
    assert sum(each.get("stroke-width") == "4" for each in root.iter(f"{SVG}rect")) == 1
    assert len(list(root.iter(f"{SVG}path"))) == 1  # S1 from G1; its other parent was lost


def test_hostile_words_stay_text(evil_decision):
    """No element but the few of the picture, no link, no script."""
    root = ElementTree.fromstring(exploration_svg(evil_decision.candidates, evil_decision.ballot))
    names = {each.tag.removeprefix(SVG) for each in root.iter()}
    assert names <= {"svg", "title", "desc", "rect", "text", "path", "g"}
    assert not any("href" in key or key.startswith("on") for e in root.iter() for key in e.attrib)


def test_nothing_to_show(decision):
    """An empty pool is an empty picture."""
    ballot = replace(decision.ballot, clusters=(), gates=(), winner=None, rule="Nobody.")
    root = ElementTree.fromstring(exploration_svg((), ballot))
    assert not list(root.iter(f"{SVG}g"))
