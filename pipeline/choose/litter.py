"""Files that a patch leaves lying about: scripts and notes made on the way to a fix. Pure.

Two patches that differ in nothing else are the same change, and what is said about files and
definitions is said about the fix.
"""

import re
from pathlib import PurePosixPath

from pipeline.evidence.policy_paths import judges
from sandbox.patch.patch import FilePatch, parse

_SCRATCH = re.compile(
    r"(?:repro|reproduce|debug|demo|scratch|tmp|temp|verify|check|try|validate|example|fix|bug|issue|"
    r"final|simple|quick|manual|solution|patch|summary|test)[-_.\d]|.*[-_](?:repro|reproduction|"
    r"demo|test|fix|fixed|bug|example|script|summary|backup|old|orig|original|copy)\Z|repro\w*\Z|demo\Z|debug\Z|tmp\w*\Z|scratch\w*\Z"
)
_SCRATCH_FOLDERS = frozenset({"tmp", "temp", "scratch", "build", "dist", "node_modules"})


def litter(patch: str) -> frozenset[str]:
    """New files that nothing else in the patch names and that stand at the top or look like a try.

    Files of folders that builds and package managers write count too. Raises PatchError when the
    patch cannot be read.
    """
    parts = parse(patch)
    return frozenset(
        part.path
        for part in parts
        if part.old_path is None and _looks_left(part.path) and not _is_named(part, parts)
    )


def _looks_left(path: str) -> bool:
    *folders, name = path.split("/")
    stem = PurePosixPath(name).stem.lower()
    in_scratch = not _SCRATCH_FOLDERS.isdisjoint(folder.lower() for folder in folders[:1])
    return not folders or in_scratch or _SCRATCH.match(stem) is not None


def _is_named(part: FilePatch, parts: tuple[FilePatch, ...]) -> bool:
    """Whether code of the fix mentions the file's name: then it belongs to it."""
    name = re.compile(rf"\b{re.escape(PurePosixPath(part.path).stem)}\b")
    return any(
        name.search(line)
        for other in parts
        if other is not part and not judges(other.path) and not _looks_left(other.path)
        for line in other.added
    )
