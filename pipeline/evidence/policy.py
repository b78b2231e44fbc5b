"""The patch policy: what is refused, what waits for a person, and why. Pure, deterministic.

Runs before a candidate is verified and again before anything is published. Source:
reliability.md §6.8.
"""

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
from sandbox.patch.limits import forbidden_shapes, over_limit
from sandbox.patch.names import folded
from sandbox.patch.patch import FilePatch, PatchError, parse

HELD_FILES = 20
HELD_LINES = 800


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
    if reason := over_limit(text):
        return (), reason
    if not text.strip():
        return (), "The patch is empty."
    try:
        return parse(text), ""
    except PatchError as error:
        return (), f"The patch cannot be read. {error}"


def _refusals(part: FilePatch, added: str) -> Iterator[str]:
    for path in {part.old_path, part.new_path} - {None}:
        if reason := refused_path(path or ""):
            yield f"{_shown(path)}: may not be changed, {reason}."
    name = _shown(part.path)
    if part.old_path is None and shadows_runner(part.path):
        yield f"{name}: a new file of this name would stand in for a module of the test runner."
    yield from (f"{name}: {reason}." for reason in forbidden_shapes(part))
    yield from (f"{name}: {reason}." for reason in hidden_characters(added))
    yield from (f"{name}: an added line holds {secret}." for secret in secrets_in(added))


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
    alike = Counter(map(folded, set(touched)))
    for path in sorted(set(touched)):
        if alike[folded(path)] > 1:
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
