"""Patches of strangers as git would write them: read with tolerance, put on the base's texts.

Published patches lack `diff --git` lines, miscount hunks, or fit a few lines off. `git apply`
takes them; the product's reader takes only what git writes. So each is located on its base and
written anew. Where no base text is there, it is written as it says.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_GIT = re.compile(r'diff --git "?a/(.*?)"? "?b/(.*?)"?$')
_NAME = re.compile(r'(?:---|\+\+\+) "?(?:[ab]/)?(.*?)"?(?:\t.*)?$')
_INDEX = re.compile(r"index ([0-9a-f]{7,40})\.\.")
Texts = Mapping[str, str | None]


@dataclass(slots=True)
class Loose:
    """One file of a patch as it was found; `old_id` is the abbreviated id of its base blob."""

    path: str
    old_id: str = ""
    made: bool = False
    deleted: bool = False
    odd: bool = False  # moved or binary: not compared by its text
    hunks: list[tuple[int, str, list[str]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Placed:
    """A patch in git's own form, and the texts of those of its files whose base is known."""

    patch: str
    before: Texts
    after: Texts


def read_loosely(patch: str) -> list[Loose]:
    """The files of a patch; what is no part of one is passed over."""
    lines, found, at = patch.split("\n"), list[Loose](), 0
    current: Loose | None = None
    while at < len(lines):
        line = lines[at]
        if git := _GIT.match(line):
            current = Loose(git[2])
            found.append(current)
        elif (
            line.startswith("--- ") and lines[at + 1 : at + 2] and lines[at + 1].startswith("+++ ")
        ):
            current = _named(found, current, line, lines[at + 1])
            at += 1
        elif current is not None and (head := _HUNK.match(line)):
            at, body = _body(lines, at + 1, int(head[2] or 1), int(head[4] or 1))
            current.hunks.append((int(head[1]), head[5], body))
            continue
        elif current is not None:
            _header(current, line)
        at += 1
    return found


def _named(found: list[Loose], current: Loose | None, old: str, new: str) -> Loose:
    names = [match[1] if (match := _NAME.match(line)) else "" for line in (old, new)]
    if current is None or current.hunks:
        current = Loose("")
        found.append(current)
    current.made = current.made or names[0] in ("/dev/null", "dev/null")
    current.deleted = current.deleted or names[1] in ("/dev/null", "dev/null")
    current.path = current.path or (names[0] if current.deleted else names[1])
    return current


def _header(current: Loose, line: str) -> None:
    if found := _INDEX.match(line):
        current.old_id = found[1]
    elif line.startswith("new file mode"):
        current.made = True
    elif line.startswith("deleted file mode"):
        current.deleted = True
    elif line.startswith(("rename ", "copy ", "GIT binary", "Binary files")):
        current.odd = True


def _body(lines: Sequence[str], at: int, old: int, new: int) -> tuple[int, list[str]]:
    """The lines of a hunk with sign and newline, at most as many as it announces."""
    body: list[str] = []
    while at < len(lines) and (old > 0 or new > 0):
        line = lines[at] or " "
        if line[0] not in " +-\\" or line.startswith("diff --git "):
            break
        if line[0] == "\\":
            body[-1:] = [body[-1].rstrip("\n")] if body else []
        else:
            old, new = old - (line[0] in " -"), new - (line[0] in " +")
            body.append(line + "\n")
        at += 1
    if at < len(lines) and lines[at].startswith("\\") and body:
        body[-1] = body[-1].rstrip("\n")
        at += 1
    return at, body


def place(patch: str, bases: Mapping[str, Sequence[str]]) -> Placed:
    """Put a patch on the first text of each path that it fits; `bases` may hold several."""
    parts, before, after = [], dict[str, str | None](), dict[str, str | None]()
    seen: set[str] = set()
    for each in read_loosely(patch):
        if not each.path or each.path in seen or not (each.hunks or each.made or each.deleted):
            continue
        seen.add(each.path)
        first = each.hunks[0] if each.hunks else (1, "", [])
        each.made = each.made or (first[0] == 0 and all(line[0] == "+" for line in first[2]))
        fitted = None if each.odd else _fit(each, [""] if each.made else bases.get(each.path, ()))
        if fitted is not None:
            text, hunks, result = fitted
            before[each.path] = None if each.made else text
            after[each.path] = None if each.deleted and not result else result
        else:
            hunks = [
                (start + all(line[0] == "+" for line in body), section, body)
                for start, section, body in each.hunks
            ]
        parts.append(_written(each, hunks, gone=after.get(each.path, "") is None))
    return Placed("".join(parts), before, after)


Hunks = list[tuple[int, str, list[str]]]


def _fit(each: Loose, texts: Iterable[str]) -> tuple[str, Hunks, str] | None:
    for text in texts:
        lines = text.split("\n")
        whole = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
        hunks, cursor, done = [], 0, list[str]()
        for start, section, body in each.hunks:
            old = [line[1:] for line in body if line[0] != "+"]
            at = _find(whole, old, max(start - 1 if old else start, 0), cursor)
            if at is None:
                break
            done += [*whole[cursor:at], *(line[1:] for line in body if line[0] != "-")]
            hunks.append((at, section, body))
            cursor = at + len(old)
        else:
            return (
                text,
                [(at + 1, section, body) for at, section, body in hunks],
                "".join([*done, *whole[cursor:]]),
            )
    return None


def _find(whole: Sequence[str], old: Sequence[str], wanted: int, least: int) -> int | None:
    """Where the lines stand, nearest to where they should; ends of lines are forgiven."""
    if not old:
        return min(max(wanted, least), len(whole))
    places = [
        at
        for at in range(least, len(whole) - len(old) + 1)
        if whole[at].rstrip() == old[0].rstrip()
        and all(a.rstrip() == b.rstrip() for a, b in zip(whole[at:], old, strict=False))
    ]
    return min(places, key=lambda at: abs(at - wanted), default=None)


def _written(each: Loose, hunks: Hunks, *, gone: bool) -> str:
    """One file in git's form, hunks counted anew."""
    modes = "new file mode 100644\n" if each.made else "deleted file mode 100644\n" if gone else ""
    head = f"diff --git a/{each.path} b/{each.path}\n{modes}"
    if not hunks:
        return head if modes else ""
    tab = "\t" if " " in each.path else ""
    names = (
        "/dev/null" if each.made else f"a/{each.path}{tab}",
        "/dev/null" if gone else f"b/{each.path}{tab}",
    )
    text, shift = f"{head}--- {names[0]}\n+++ {names[1]}\n", 0
    for at, section, body in hunks:
        old, new = sum(line[0] != "+" for line in body), sum(line[0] != "-" for line in body)
        start = at if old else at - 1
        first = start + shift + (0 if new else -1) + (0 if old else 1)
        spans = f"-{start},{old} +{max(first, 0)},{new}"
        lines = "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in body
        )
        text += f"@@ {spans} @@{' ' + section if section else ''}\n{lines}"
        shift += new - old
    return text


def base_texts(git_dir: Path, patches: Iterable[str], commit: str = "") -> dict[str, list[str]]:
    """Texts that the patches' files may have had, by path: named by blob ids, or by a commit."""
    names: dict[str, list[str]] = {}
    for patch in patches:
        for each in read_loosely(patch):
            wanted = names.setdefault(each.path, [])
            options = [f"{commit}:{each.path}"] if commit else []
            if each.old_id and set(each.old_id) != {"0"}:
                options.append(each.old_id)
            wanted += [name for name in options if name not in wanted]
    asked = [
        (path, name) for path, several in names.items() for name in several if "\n" not in name
    ]
    if not asked or not git_dir.is_dir():
        return {}
    texts: dict[str, list[str]] = {}
    for (path, _), text in zip(asked, _blobs(git_dir, [name for _, name in asked]), strict=True):
        if text is not None:
            texts.setdefault(path, []).append(text)
    return texts


def _blobs(git_dir: Path, names: Sequence[str]) -> Iterator[str | None]:
    """The text of each named blob, None where there is none."""
    data = subprocess.run(
        ["git", "-C", str(git_dir), "cat-file", "--batch"],
        input="\n".join(names).encode() + b"\n",
        capture_output=True,
        check=False,
    ).stdout
    at = 0
    for _ in names:
        end = data.find(b"\n", at)
        head = data[at:end].split(b" ") if end >= 0 else []
        at = end + 1
        if len(head) != 3 or not head[2].isdigit():
            # "missing" is one line; so is the head of an answer about an ambiguous name
            yield None
            continue
        size = int(head[2])
        text = data[at : at + size].decode("utf-8", "surrogateescape")
        at += size + 1
        yield text if head[1] == b"blob" else None
