"""Instances of a SWE-bench-style file: of each row only the four fields that may be known. Pure.

Gold patches, tests, hints and whatever else a row holds is dropped here, before anything else
sees it.
"""

import gzip
import json
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.fix import issue_text
from app.github.mirror import is_commit, is_repository
from app.settings import SettingsError

FIELDS = ("instance_id", "repo", "base_commit", "problem_statement")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


@dataclass(frozen=True, slots=True)
class Instance:
    """One issue of one repository at one commit."""

    instance_id: str
    repo: str
    base_commit: str
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be run: `name` is its id or its line, `reason` a sentence."""

    name: str
    reason: str


def read_instances(path: Path) -> tuple[tuple[Instance, ...], tuple[BadRow, ...]]:
    """The instances of a .jsonl or .jsonl.gz file in its order, and the rows that are none.

    Raises SettingsError for a file that cannot be read.
    """
    found: dict[str, Instance] = {}
    bad: list[BadRow] = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        row = instance_in(line, f"line {number}")
        if isinstance(row, Instance) and row.instance_id in found:
            row = BadRow(row.instance_id, f"Line {number} repeats it; the first one counts.")
        if isinstance(row, BadRow):
            bad.append(row)
        else:
            found[row.instance_id] = row
    return tuple(found.values()), tuple(bad)


def instance_in(line: str, where: str) -> Instance | BadRow:
    """The instance in one line; `where` names the line when it has no id."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return BadRow(where, "It is no JSON.")
    if not isinstance(data, dict):
        return BadRow(where, "It is no JSON object.")
    row: dict[str, Any] = {name: data.get(name) for name in FIELDS}
    name = str(row["instance_id"] or where)[:200]
    lacking = [each for each in FIELDS if not isinstance(row[each], str) or not row[each].strip()]
    if lacking:
        return BadRow(name, f"It has no text in {', '.join(lacking)}.")
    forms = {"instance_id": _is_id, "repo": is_repository, "base_commit": is_commit}
    for field, is_one in forms.items():
        if not is_one(row[field]):
            return BadRow(name, f"Its {field} is not one: {row[field][:80]!r}.")
    try:
        title, body = issue_text(row["problem_statement"].encode(errors="replace"), "Its text")
    except SettingsError as error:
        return BadRow(name, str(error))
    return Instance(row["instance_id"], row["repo"], row["base_commit"], title, body)


def _is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None and ".." not in text


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise SettingsError(f"{path} cannot be read: {error}.") from None
    return data.decode("utf-8", "replace")
