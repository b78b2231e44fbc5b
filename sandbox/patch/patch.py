"""Patches as values: read, apply without fuzz, put together, take apart. Pure.

Texts hold bytes that are not UTF-8 as lone surrogates (`errors="surrogateescape"`).
"""

from collections.abc import Collection, Iterable, Mapping
from hashlib import sha1, sha256

from sandbox.patch.parse import (
    REGULAR,
    FilePatch,
    Hunk,
    PatchError,
    parse,
    quote,
)

__all__ = [
    "FilePatch",
    "Hunk",
    "PatchError",
    "apply",
    "changed_lines",
    "combine",
    "parse",
    "paths",
    "render",
    "without_paths",
]


def apply(file_patch: FilePatch, before: str | None) -> str | None:
    """The file's text after the patch, None when it is deleted.

    `before` is None when there is no such file. Every line must stand exactly where the patch
    says. Raises PatchError when one does not, and for binary and moved files.
    """
    name = file_patch.path
    if file_patch.is_binary or file_patch.moved:
        raise PatchError(f"{name}: binary and moved files are not applied.")
    if (before is None) != (file_patch.old_path is None):
        state = "does not exist" if before is None else "exists already"
        raise PatchError(f"{name}: the file {state}.")
    text = _with_hunks(name, file_patch.hunks, _split(before or ""))
    if file_patch.new_path is not None:
        return text
    if text:
        raise PatchError(f"{name}: the patch deletes the file but not all of its lines.")
    return None


def render(patches: Iterable[FilePatch]) -> str:
    """The patch's text again, byte for byte as it was read."""
    return "".join(patch.text for patch in patches)


def combine(patch: str, new_files: Mapping[str, str]) -> str:
    """The patch with new files of mode 100644 appended, ready for `git apply --index`.

    Raises PatchError when the patch cannot be read or already touches one of the paths.
    """
    known = parse(patch)
    taken = {path for file_patch in known for path in _both(file_patch)}
    if clash := sorted(taken & set(new_files)):
        raise PatchError(f"{clash[0]}: the patch already touches this file.")
    wide = any(len(file_patch.new_id) == 64 for file_patch in known)
    return patch + "".join(_new_file(path, new_files[path], wide) for path in sorted(new_files))


def without_paths(patch: str, paths: Collection[str]) -> str:
    """The patch without the parts that touch one of `paths`; the rest byte for byte."""
    unwanted = set(paths)
    return render(part for part in parse(patch) if unwanted.isdisjoint(_both(part)))


def paths(patch: str) -> tuple[str, ...]:
    """Every path the patch touches, old names of moved files too; sorted."""
    return tuple(sorted({path for part in parse(patch) for path in _both(part)}))


def changed_lines(patch: str) -> int:
    """Added and removed lines of the whole patch."""
    return sum(len(part.added) + len(part.removed) for part in parse(patch))


def _both(patch: FilePatch) -> tuple[str, ...]:
    return tuple(path for path in (patch.old_path, patch.new_path) if path is not None)


def _split(text: str) -> list[str]:
    """Lines as git sees them: ended by a line feed and nothing else."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _with_hunks(name: str, hunks: tuple[Hunk, ...], lines: list[str]) -> str:
    done: list[str] = []
    cursor = shift = 0
    for hunk in hunks:
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        new_start = hunk.new_start - 1 if hunk.new_count else hunk.new_start
        old = [line[1:] for line in hunk.lines if line[0] != "+"]
        if start < cursor or new_start != start + shift or lines[start : start + len(old)] != old:
            raise PatchError(f"{name}: the hunk at line {hunk.old_start} does not fit the file.")
        done += lines[cursor:start]
        done += [line[1:] for line in hunk.lines if line[0] != "-"]
        cursor = start + len(old)
        shift += hunk.new_count - hunk.old_count
    done += lines[cursor:]
    if not all(line.endswith("\n") for line in done[:-1]):
        raise PatchError(f"{name}: a line in the middle would lose its end.")
    return "".join(done)


def _new_file(path: str, text: str, wide: bool) -> str:
    data = text.encode("utf-8", "surrogateescape")
    blob = b"blob %d\x00" % len(data) + data
    # git names objects by SHA-1; nothing here relies on it against an attacker
    name = sha256(blob).hexdigest() if wide else sha1(blob, usedforsecurity=False).hexdigest()
    old, new = quote(f"a/{path}"), quote(f"b/{path}")
    head = f"diff --git {old} {new}\nnew file mode {REGULAR}\nindex {'0' * len(name)}..{name}\n"
    lines = _split(text)
    if not lines:
        return head
    tab = "\t" if " " in path and not new.startswith('"') else ""
    count = "1" if len(lines) == 1 else f"1,{len(lines)}"
    body = "".join("+" + line for line in lines)
    end = "" if text.endswith("\n") else "\n\\ No newline at end of file\n"
    return f"{head}--- /dev/null\n+++ {new}{tab}\n@@ -0,0 +{count} @@\n{body}{end}"
