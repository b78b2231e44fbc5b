"""Every attack of the table is really tried, and the document lists what the code has."""

import json
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sandbox.attacks.base import ATTACK_LIMITS, GROUPS, Attack, AttackResult, Finding
from sandbox.attacks.render import as_json, as_markdown, as_table, summary
from sandbox.attacks.run import run_attacks
from sandbox.attacks.table import ATTACKS
from sandbox.base import Environment
from sandbox.docker import DockerSandbox

DOCUMENT = Path(__file__).parents[3] / "docs" / "security.md"
EXPECTED = {attack.id: "limit" if attack.limit else "held" for attack in ATTACKS}


@pytest.fixture
async def small() -> AsyncIterator[DockerSandbox]:
    """A sandbox whose limits are reached within seconds."""
    sandbox = DockerSandbox(limits=ATTACK_LIMITS, instance=f"prism-tests-{os.getpid()}")
    yield sandbox
    await sandbox.close()


def unexpected(results: tuple[AttackResult, ...]) -> list[str]:
    """What ended otherwise than the table says."""
    return [
        f"{r.group}/{r.id}: {r.verdict} ({r.observed})"
        for r in results
        if r.verdict != EXPECTED[r.id]
    ]


@pytest.mark.engine
@pytest.mark.timeout(600)
async def test_every_quick_attack(small: DockerSandbox, prepared: Environment) -> None:
    """Each is held, or is one of the limits that are known and written down."""
    results = await run_attacks(small, prepared, slow=False)
    assert unexpected(results) == []
    assert {r.id for r in results} == {attack.id for attack in ATTACKS if not attack.slow}


@pytest.mark.engine
@pytest.mark.nightly
@pytest.mark.timeout(900)
async def test_every_attack_on_the_base_image_alone(small: DockerSandbox) -> None:
    """The command's own way: a tiny repository is prepared, the slow ones are tried too."""
    try:
        results = await run_attacks(small)
        assert unexpected(results) == []
        assert len(results) == len(ATTACKS)
    finally:
        await small.remove_environments("prism/attacks")


def test_ids_are_unique_and_groups_in_order() -> None:
    """An id names one row; the rows of a group stand together."""
    assert len(EXPECTED) == len(ATTACKS)
    assert list(dict.fromkeys(attack.group for attack in ATTACKS)) == list(GROUPS)


def test_document_lists_exactly_the_cases() -> None:
    """The table in the document is that of the code: ids, words, and how each is expected."""
    row = re.compile(r"^\| (\w+/[\w-]+) \| (.+?) \| (.+?) \| \*\*(.+?)\*\* \|", re.MULTILINE)
    rows = row.findall(_table())
    assert [words[0] for words in rows] == [f"{a.group}/{a.id}" for a in ATTACKS]
    for words, attack in zip(rows, ATTACKS, strict=True):
        assert words[1:] == (attack.title, attack.held_by, EXPECTED[attack.id])


def _table() -> str:
    text = DOCUMENT.read_text()
    start = text.index("## The attack table")
    return text[start : text.index("\n## ", start + 1)]


async def _probe(_: object) -> Finding:
    return Finding(True, "")


def test_rendering_keeps_every_row_on_its_line() -> None:
    """Texts from inside a container break neither Markdown, JSON nor a terminal's table."""
    attack = Attack("a", "paths", "tries | this", "held", _probe)
    odd = "x | y\nnew <b> \\"
    results = (
        AttackResult(attack.id, attack.group, attack.title, attack.held_by, "held", odd, 0.1),
        AttackResult("b", "git", "t", "h", "not held", "[red]markup[/red]", 0.1),
    )
    lines = as_markdown(results).splitlines()
    assert len(lines) == 4
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 6 for line in lines)
    assert json.loads(as_json(results))[0]["observed"] == odd
    assert as_table(results).row_count == 2
    assert summary(results) == "1 of 2 held, 0 known limits, 1 NOT held"
