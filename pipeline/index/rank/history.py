"""Past commits as evidence: what was changed when messages read like the issue.

Only ancestors of the commit count. Kept by commit, so that the next one adds what is new; a list
of ancestors is kept as what was new and the name of an earlier list that goes on from there.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.index.objects import CommitInfo
from pipeline.index.rank import kept
from pipeline.index.rank.bm25 import Field, build, sums
from pipeline.index.rank.tokens import count
from pipeline.index.store import Index

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

COMMITS = 6_000
MAX_PATHS = 10  # a commit that touches more says little about any of them
BODY = 600  # characters of a message after its subject
BEST = 30
BEYOND = 100  # commits still read after an earlier list goes on: dates are not quite an order
DAY = 86_400.0
HALF = 90.0  # days
_NUMBER = re.compile(r"#\d{1,7}\b")


@dataclass(frozen=True, slots=True)
class History:
    """Commits that touched few candidates, newest first. `at` and `files` are pairs of a commit's
    position and a file's; `shares` is 1/√files of each commit."""

    ids: tuple[str, ...]
    subjects: tuple[str, ...]
    messages: Field
    at: Ints
    files: Ints
    shares: Floats
    recent: Floats


def history(index: Index, paths: Sequence[str]) -> History:
    """The history of a commit over its candidate files; reads from git what is not kept yet."""
    ids, rows = _ancestors(index)
    number = {path: at for at, path in enumerate(paths)}
    used: list[tuple[str, dict[str, object], list[int]]] = []
    for each in ids:
        row = json.loads(rows[each]) if each in rows else None
        files = [number[path] for path in row["paths"] if path in number] if row else []
        if row and files:
            used.append((each, row, files))
    return _laid_out(used, len(paths))


def _laid_out(used: Sequence[tuple[str, dict[str, object], list[int]]], files: int) -> History:
    words = [row["words"] for _, row, _ in used]
    sizes = [len(each) for each in words]  # type: ignore[arg-type]
    flat = np.array([pair for each in words for pair in each], np.int64).reshape(-1, 2)  # type: ignore[attr-defined]
    documents = np.repeat(np.arange(len(used)), sizes)
    at = np.repeat(np.arange(len(used)), [len(each) for _, _, each in used])
    touched = np.array([file for _, _, each in used for file in each], np.int64)
    shares = np.array([1 / np.sqrt(len(each)) for _, _, each in used])
    times = np.array([row["time"] for _, row, _ in used], np.float64)
    age = (times.max() - times) / DAY if len(times) else times
    recent = np.bincount(touched, (np.exp(-age / HALF) * shares)[at], minlength=files)
    return History(
        ids=tuple(each for each, _, _ in used),
        subjects=tuple(str(row["subject"]) for _, row, _ in used),
        messages=build(
            documents,
            flat[:, 0].astype(np.uint32),
            flat[:, 1],
            np.bincount(documents, flat[:, 1], minlength=len(used)),
        ),
        at=at,
        files=touched,
        shares=shares,
        recent=np.log1p(recent),
    )


def similar(past: History, query: Mapping[int, float], files: int) -> Floats:
    """Files of the 30 commits whose messages are most like the issue: (s / s_max)³ / √files."""
    scores = past.messages.score(query)
    if not len(scores) or not scores.max():
        return np.zeros(files)
    order = np.argsort(-scores, kind="stable")[:BEST]
    weight = np.zeros(len(scores))
    weight[order] = (scores[order] / scores.max()) ** 3 * past.shares[order]
    return sums(past.files, weight[past.at], files)


def referred(past: History, references: Set[str], files: int) -> Floats:
    """Files of commits whose hash or `#number` the issue quotes: 1 / √files."""
    weight = np.zeros(len(past.ids))
    hashes = [each for each in references if len(each) >= 7]
    numbers = {f"#{each}" for each in references if each.isdigit()}
    if not hashes and not numbers:
        return np.zeros(files)
    for at, (name, subject) in enumerate(zip(past.ids, past.subjects, strict=True)):
        quoted = any(name.startswith(each) for each in hashes)
        if quoted or (numbers and not numbers.isdisjoint(_NUMBER.findall(subject))):
            weight[at] = past.shares[at]
    return sums(past.files, weight[past.at], files)


def _ancestors(index: Index) -> tuple[list[str], dict[str, bytes]]:
    """Commits, newest first, and what is known of each, whether or not it could be kept."""
    row, new = index.kept(kept.HISTORY, index.commit), dict[str, bytes]()
    if row is None:
        row, new = _extend(index)
    ids: list[str] = []
    while row is not None and len(ids) < COMMITS:
        listed = json.loads(row)
        ids += listed["ids"]
        row = index.kept(kept.HISTORY, listed["then"]) if listed["then"] else None
    ids = list(dict.fromkeys(ids))[:COMMITS]
    return ids, {**index.all_kept(kept.COMMIT, ids), **new}


def _extend(index: Index) -> tuple[bytes, dict[str, bytes]]:
    """Read and keep the commits down to one whose own list is kept: the list, and its new rows."""
    heads = kept.keys(index, kept.HISTORY)
    new: list[CommitInfo] = []
    then = ""
    for each in _until(index.objects.history(index.commit, COMMITS), heads):
        if not then and each.id in heads:
            then = each.id
        new.append(each)
    have = set(index.all_kept(kept.COMMIT, [each.id for each in new]))
    made = {each.id: _row(each) for each in new if each.id not in have}
    rows = {key: value for key, value in made.items() if value}
    listed = json.dumps({"ids": [each.id for each in new], "then": then}).encode()
    index.keep(kept.COMMIT, rows)
    index.keep(kept.HISTORY, {index.commit: listed})
    return listed, rows


def _until(commits: Iterator[CommitInfo], heads: Set[str]) -> Iterator[CommitInfo]:
    left: int | None = None
    for each in commits:
        if left is None and each.id in heads:
            left = BEYOND
        elif left is not None:
            left -= 1
        if left == 0:
            return
        yield each


def _row(commit: CommitInfo) -> bytes:
    """What is kept of a commit; nothing of one that touches too much."""
    if not 0 < len(commit.paths) <= 4 * MAX_PATHS:
        return b""
    subject, _, body = commit.message.partition("\n")
    words = count(f"{subject}\n{body[:BODY]}")
    row = {
        "time": commit.time,
        "subject": subject[:200],
        "words": list(words.items()),
        "paths": commit.paths,
    }
    return json.dumps(row).encode()
