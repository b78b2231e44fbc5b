"""What a repository says about building and testing itself, as quoted text for the set-up agent.

Nothing of it is executed: the agent reads it and decides what to try in its container. Pure but
for reading files of the base commit; every part is bounded.
"""

import re

from pipeline.prompts.blocks import data_block
from sandbox.base import Source

MAX_FILES = 150
MAX_WORKFLOWS = 6
MAX_LINES = 40
MAX_LINE = 200
MAX_READ = 200_000
DOCUMENTS = (
    "AGENTS.md",
    "CLAUDE.md",
    "CONTRIBUTING.md",
    "CONTRIBUTING.rst",
    ".github/CONTRIBUTING.md",
    "docs/contributing.md",
    "DEVELOPMENT.md",
    "HACKING.md",
    "README.md",
    "README.rst",
    "README",
    "INSTALL.md",
)
MAX_DOCUMENTS = 4

_WORKFLOW = re.compile(
    r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|\.travis\.yml|Jenkinsfile"
)
_TELLING = re.compile(
    r"\b(tests?|install|build|check|pytest|tox|nox|npm|pnpm|yarn|go|cargo|mvn|gradlew?|make|cmake|"
    r"ctest|rspec|rake|bundle|composer|phpunit|apt(-get)?|pip|uv|poetry|python3?|node|run)\b"
)
_CI_NOISE = re.compile(r"^\s*(#|-?\s*(name|uses|on|if|with|id|permissions)\s*:)")


async def hints(source: Source) -> str:
    """File names, CI lines and passages of documents, each in a block of its own."""
    files = await source.files()
    parts = [data_block("files", _listing(files))]
    workflows = [path for path in files if _WORKFLOW.fullmatch(path)][:MAX_WORKFLOWS]
    documents = [path for path in DOCUMENTS if path in set(files)][:MAX_DOCUMENTS]
    parts += [_quoted(path, ci_lines(await _text(source, path))) for path in workflows]
    parts += [_quoted(path, document_lines(await _text(source, path))) for path in documents]
    return "\n\n".join(part for part in parts if part)


def ci_lines(text: str) -> list[str]:
    """Lines of a CI file that may install or test something."""
    lines = [line for line in text.splitlines() if not _CI_NOISE.match(line)]
    return [line for line in lines if _TELLING.search(line)][:MAX_LINES]


def document_lines(text: str) -> list[str]:
    """Lines of code blocks, and of prose those in which a command is named between backticks."""
    kept, fenced = [], False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            continue
        is_code = fenced or line.startswith(("    ", "\t"))
        if _TELLING.search(line) and (is_code or "`" in line or line.lstrip().startswith("$ ")):
            kept.append(line)
    return kept[:MAX_LINES]


def _listing(files: tuple[str, ...]) -> str:
    """Files nearest to the root first: manifests and test folders are there."""
    near = sorted(files, key=lambda path: (path.count("/"), path))[:MAX_FILES]
    more = len(files) - len(near)
    return "\n".join(near) + (f"\n(and {more} more)" if more > 0 else "")


def _quoted(path: str, lines: list[str]) -> str:
    if not lines:
        return ""
    cut = [line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…" for line in lines]
    return data_block("hint", f"from: {path}\n" + "\n".join(cut))


async def _text(source: Source, path: str) -> str:
    data = await source.read(path)
    return (data or b"")[:MAX_READ].decode("utf-8", "replace")
