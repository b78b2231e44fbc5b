"""The patch policy: what is refused, what waits for a person, and why. Pure, deterministic.

Runs before a candidate is verified and again before anything is published. Source:
reliability.md §6.8.
"""

import re
from collections import Counter
from collections.abc import Iterator

from pipeline.evidence.policy_lines import (
    CODE,
    hidden_characters,
    hosts_in,
    new_calls,
    secrets_in,
    weakened,
)
from pipeline.evidence.policy_paths import (
    held_path,
    is_test_path,
    judges,
    refused_path,
    shadows_runner,
)
from pipeline.values import PolicyVerdict
from sandbox.patch.patch import FilePatch, PatchError, parse

MAX_FILES = 100
MAX_BYTES = 256 * 1024
MAX_LINES = 20_000
MAX_LINE = 5_000
HELD_FILES = 20
HELD_LINES = 800
# Bytes that are not UTF-8, and halves of characters: no later step could carry them.
_NOT_TEXT = re.compile("[\ud800-\udfff]")

_SYMLINK, _GITLINK, _EXECUTABLE = "120000", "160000", "100755"
_KNOWN_MODES = frozenset({"", "100644", _EXECUTABLE, _SYMLINK, _GITLINK})


def check_patch(patch_text: str) -> PolicyVerdict:
    """Every reason to refuse the patch or to hold it for a person, path and rule in each.

    Never raises. A patch that is over a hard cap or cannot be read gets that one reason: the
    rest of it is not looked at. Under 100 ms whatever the input.
    """
    parts, refusal = _readable(patch_text)
    if refusal:
        return PolicyVerdict(refused=(refusal,))
    refused: list[str] = []
    held: list[str] = []
    for part in parts:
        added, removed = "".join(part.added), "".join(part.removed)
        refused += _refusals(part, added)
        held += _holds(part, added, removed)
    refused += _clashes(parts)
    held += _sizes(parts)
    # the same finding for both names of a file is told once
    return PolicyVerdict(tuple(dict.fromkeys(refused)), tuple(dict.fromkeys(held)))


def _readable(text: str) -> tuple[tuple[FilePatch, ...], str]:
    """The patch's parts, or none and the one reason why nothing else is looked at."""
    if reason := _unfit(text):
        return (), reason
    try:
        parts = parse(text)
    except PatchError as error:
        return (), f"The patch cannot be read. {error}"
    if len(parts) > MAX_FILES:
        return (), f"The patch touches {len(parts)} files, more than {MAX_FILES}."
    return parts, ""


def _unfit(text: str) -> str:
    # characters first: encoding a huge text would cost more than the limit allows
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return f"The patch is larger than {MAX_BYTES // 1024} KB."
    if text.count("\n") > MAX_LINES:
        return f"The patch is longer than {MAX_LINES} lines."
    if not text.strip():
        return "The patch is empty."
    if _NOT_TEXT.search(text):
        return "The patch cannot be read: it is not UTF-8 text."
    return ""


def _refusals(part: FilePatch, added: str) -> Iterator[str]:
    for path in {part.old_path, part.new_path} - {None}:
        if reason := refused_path(path or ""):
            yield f"{_shown(path)}: may not be changed, {reason}."
    name = _shown(part.path)
    yield from (f"{name}: {reason}." for reason in _shape_refusals(part))
    yield from (f"{name}: {reason}." for reason in hidden_characters(added))
    yield from (f"{name}: an added line holds {secret}." for secret in secrets_in(added))
    if max(map(len, added.split("\n"))) > MAX_LINE:
        yield f"{name}: an added line is longer than {MAX_LINE} characters."


def _shape_refusals(part: FilePatch) -> Iterator[str]:
    if part.old_path is None and shadows_runner(part.path):
        yield "a new file of this name would stand in for a module of the test runner"
    modes = {part.old_mode, part.new_mode}
    if _SYMLINK in modes:
        yield "symbolic links are not allowed"
    if _GITLINK in modes:
        yield "submodules are not allowed"
    if not modes <= _KNOWN_MODES:
        yield "its mode is none that git uses for files"
    if part.new_mode == _EXECUTABLE and part.old_mode != _EXECUTABLE:
        yield "a new executable bit is not allowed"
    if part.is_binary:
        yield "binary files are not allowed"
    if part.moved:
        yield f"a {part.moved} must be written as a deletion and a new file"


def _holds(part: FilePatch, added: str, removed: str) -> Iterator[str]:
    name, path = _shown(part.path), part.path
    if part.old_path is not None and judges(path):
        yield f"{name}: changes an existing test or its settings; the old version was run here."
    if kind := held_path(path):
        yield f"{name}: changes {kind}."
    if part.old_path and part.new_path and part.old_mode != part.new_mode:
        yield f"{name}: changes the file's mode."
    if _only_line_ends(added, removed):
        yield f"{name}: changes nothing but the line ends."
    if is_test_path(path):
        yield from _test_holds(part, added, removed)
    if path.rpartition(".")[2].lower() in CODE:
        yield from (f"{name}: new code {kind}." for kind in new_calls(added, removed))
    if hosts := hosts_in(added):
        new = sorted(hosts - hosts_in(_before(part)))
        yield from (f"{name}: names the new host {host}." for host in new)


def _test_holds(part: FilePatch, added: str, removed: str) -> Iterator[str]:
    name = _shown(part.path)
    if part.new_path is None:
        yield f"{name}: deletes a test file."
    elif part.old_path is not None:
        yield from (f"{name}: {sentence}." for sentence in weakened(added, removed))


def _before(part: FilePatch) -> str:
    return "".join(line for hunk in part.hunks for line in hunk.lines if line[0] != "+")


def _only_line_ends(added: str, removed: str) -> bool:
    return added != removed and added.replace("\r", "") == removed.replace("\r", "") != ""


def _clashes(parts: tuple[FilePatch, ...]) -> Iterator[str]:
    # A symlink that becomes a file is two parts of the same name: git's reading depends on order.
    touched = [path for part in parts for path in {part.old_path, part.new_path} if path]
    for path, count in sorted(Counter(touched).items()):
        if count > 1:
            yield f"{_shown(path)}: the patch touches it twice."
    folded = Counter(path.casefold() for path in set(touched))
    for path in sorted(set(touched)):
        if folded[path.casefold()] > 1:
            yield f"{_shown(path)}: differs from another path of the patch by case only."


def _sizes(parts: tuple[FilePatch, ...]) -> Iterator[str]:
    if len(parts) > HELD_FILES:
        yield f"The patch touches {len(parts)} files, more than {HELD_FILES}."
    lines = sum(line[0] != " " for part in parts for hunk in part.hunks for line in hunk.lines)
    if lines > HELD_LINES:
        yield f"The patch changes {lines} lines, more than {HELD_LINES}."


def _shown(path: str | None) -> str:
    """A name that is safe to print: nothing but visible characters, at most 120."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in (path or "")[:400])
    return text if len(text) <= 120 else text[:60] + "…" + text[-59:]
