"""What is taken from a SWE-bench-style file, and what never is."""

import gzip
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from app.evaluate.instances import BadRow, Instance, instance_in, read_instances
from app.settings import SettingsError

ROW = {
    "instance_id": "acme__calc-1",
    "repo": "acme/calc",
    "base_commit": "a" * 40,
    "problem_statement": "double returns its input\r\nIt should be twice that.\n",
    "hints_text": "SECRET hint",
    "patch": "SECRET patch",
    "test_patch": "SECRET test",
    "FAIL_TO_PASS": '["SECRET"]',
    "created_at": "2024",
}


def test_only_four_fields_are_read() -> None:
    """Nothing else of the row is in the instance, in whatever field."""
    found = instance_in(json.dumps(ROW), "line 1")
    assert isinstance(found, Instance)
    assert found.title == "double returns its input"
    assert found.body == "It should be twice that."
    assert "SECRET" not in repr(found)
    assert {each.name for each in fields(found)} == {
        *("instance_id", "repo", "base_commit", "title", "body")
    }


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"base_commit": None}, "base_commit"),
        ({"problem_statement": " \n"}, "problem_statement"),
        ({"repo": 7, "base_commit": ""}, "repo, base_commit"),
        ({"base_commit": "main"}, "base_commit"),
        ({"base_commit": "--upload-pack=x" + "a" * 25}, "base_commit"),
        ({"repo": "../etc/passwd"}, "repo"),
        ({"repo": "acme/.."}, "repo"),
        ({"instance_id": "../../x"}, "instance_id"),
        ({"instance_id": "a/b"}, "instance_id"),
        ({"problem_statement": "x" * 400_000}, "300 kB"),
    ],
)
def test_a_row_that_cannot_be_run_says_why(change: dict[str, Any], named: str) -> None:
    """Ids become file names and commits arguments: only what looks like one is taken."""
    found = instance_in(json.dumps({**ROW, **change}), "line 1")
    assert isinstance(found, BadRow)
    assert named in found.reason


@pytest.mark.parametrize("line", ["{", "[]", "7", "null", '"x"', "[" * 5000, "{}"])
def test_what_is_no_row_is_named_by_its_line(line: str) -> None:
    """Any text can stand in a file."""
    found = instance_in(line, "line 3")
    assert isinstance(found, BadRow)
    assert found.name == "line 3"


def test_a_file_is_read_in_its_order_and_compressed_as_well(tmp_path: Path) -> None:
    """Blank lines do not count; a repeated id counts once and is told."""
    lines = [json.dumps({**ROW, "instance_id": name}) for name in ("b-2", "a-1", "b-2")]
    text = "\n\n".join([*lines, "{half"])
    (tmp_path / "rows.jsonl").write_text(text)
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("rows.jsonl", "rows.jsonl.gz"):
        found, bad = read_instances(tmp_path / name)
        assert [each.instance_id for each in found] == ["b-2", "a-1"]
        assert [each.name for each in bad] == ["b-2", "line 7"]


@pytest.mark.parametrize("data", [b"no gzip", gzip.compress(b"{}" * 100, mtime=0)[:-12]])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, data: bytes) -> None:
    """One sentence, whatever is wrong with it."""
    (tmp_path / "rows.jsonl.gz").write_bytes(data)
    with pytest.raises(SettingsError, match=r"rows\.jsonl\.gz cannot be read"):
        read_instances(tmp_path / "rows.jsonl.gz")
