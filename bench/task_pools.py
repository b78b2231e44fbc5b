"""Pools of scripted candidates around a known fix: the fix once, its halves and misses often.

A pool holds the gold patch as one synthesis; twice each half of a fix that needs several files;
the fix with a function broken beside it; a change that does nothing for the issue; and one
that changes a comment only. The reproductions are the fix's own tests, in the name of the
candidate that does nothing: whoever else passes them is a second opinion.
"""

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.choose.normalise import changed_units
from pipeline.index.units import enclosing, units
from pipeline.values import Candidate, Change, Exclusion, Plan, Reproduction, Solution, Stage
from sandbox.patch.patch import apply, parse, paths

Json = Any
Texts = Mapping[str, str]
AUTHOR = "G1"
GOLD = "S1"
_STAGES: Mapping[str, Stage] = {"G": "global", "L": "local", "S": "synthesis"}
_PIP = "python -m pip install --quiet {}"
# Only what a task names: other development packages may come from places that are not reached.
_NPM = (
    "cp package.json /tmp/kept.json && npm pkg delete devDependencies && "
    "npm install --no-save --no-package-lock {} && cp /tmp/kept.json package.json"
)


@dataclass(frozen=True, slots=True)
class FixTask:
    """A real bug with its fix: where, what, and how to see it. Rows of a JSON-lines file."""

    name: str
    repository: str
    base_commit: str
    title: str
    body: str
    gold: str
    tests: str
    fail_to_pass: tuple[str, ...]
    run: str
    packages: tuple[str, ...]

    @property
    def is_python(self) -> bool:
        """Whether the packages come from pip; otherwise npm's."""
        return "python" in self.run


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates by what they are: `halves` are ids, `broken` and `misses` too."""

    candidates: tuple[Candidate, ...]
    halves: tuple[str, ...]
    broken: tuple[str, ...]
    misses: tuple[str, ...]


def read_tasks(files: Sequence[Path]) -> list[FixTask]:
    """The tasks of JSON-lines files, in their order."""
    lines = [line for file in files for line in file.read_text("utf-8").splitlines() if line]
    return [_task(json.loads(line)) for line in lines]


def _task(row: Json) -> FixTask:
    return FixTask(
        name=f"{row['repo'].partition('/')[2]}-{row['issue_number']}",
        repository=row["repo"],
        base_commit=row["base_commit"],
        title=row["issue_title"],
        body=row["issue_summary"],
        gold=row["gold_patch"],
        tests=row["test_patch"],
        fail_to_pass=tuple(row["fail_to_pass"]),
        run=row["run"],
        packages=tuple(row.get("pip_deps") or row.get("npm_deps") or ()),
    )


def configuration(task: FixTask) -> str:
    """The `.github/prism.yml` that sets the task up and runs its tests, as its row says."""
    *before, test = task.run.split(" && ")
    words = test.split(" ")
    variables = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
    test = " ".join(word for word in words if not re.match(r"[A-Z_]+=", word))
    install = _PIP if task.is_python else _NPM
    lines = [install.format(" ".join(task.packages)), *(f"python -m {line}" for line in before)]
    told: dict[str, Json] = {"setup": lines, "test": test}
    if task.is_python:
        told["vars"] = {**variables, "SETUPTOOLS_SCM_PRETEND_VERSION": "99.0"}
    return json.dumps({"env": told})  # which is YAML too


async def pool_of(task: FixTask, texts: Texts) -> Pool:
    """The pool of a task; `texts` holds the base's files that fix and tests touch."""
    fixed = {part.path: apply(part, texts[part.path]) or "" for part in parse(task.gold)}
    first, at = _first_place(task)
    inside = _Inside(first, texts[first], await _body(first, texts[first], at), task.is_python)
    shifted = _Inside(first, fixed[first], await _body(first, fixed[first], at), task.is_python)
    halves = _halves(task, texts)
    patches = {
        AUTHOR: diff(texts, {first: inside.with_line('prism_unused = "0"', 'var unused = "0";')}),
        "G2": diff(texts, {**fixed, first: shifted.with_line("raise OSError", "throw Error();")}),
        "L2.1": diff(texts, {first: inside.with_line("# a comment", "// a comment")}),
        GOLD: task.gold,
    }
    patches["L1.1"] = patches[AUTHOR]
    named = [f"L3.{number}" for number in range(1, 2 * len(halves) + 1)]
    patches |= dict(zip(named, [*halves, *halves], strict=True))
    tests = tuple(_reproductions(task, texts))
    return Pool(
        tuple(
            _candidate(name, patch, tests if name == AUTHOR else ())
            for name, patch in patches.items()
        ),
        halves=tuple(named),
        broken=("G2",),
        misses=(AUTHOR, "L1.1", "L2.1"),
    )


def exclusions(task: FixTask, texts: Texts, wanted: frozenset[str]) -> tuple[Exclusion, ...]:
    """What a Test agent would name: the base's tests that the fix's own tests change."""
    changed: set[str] = set()
    for part in parse(task.tests):
        before = texts.get(part.path)
        for unit in changed_units(part.path, before, apply(part, before)):
            changed.add("::".join([part.path, *unit.split(".")]))
    named = sorted(test for test in wanted if test.partition("[")[0] in changed)
    return tuple(Exclusion(test, task.title, "It asserts the old way.") for test in named)


def _candidate(name: str, patch: str, reproductions: tuple[Reproduction, ...]) -> Candidate:
    stage = _STAGES[name[0]]
    parents = () if stage == "global" else ("G1",)
    changes = tuple(Change(part.path, "as in the patch") for part in parse(patch))
    return Candidate(
        id=name,
        stage=stage,
        parents=parents,
        plan=Plan(name, Solution("", "", "", ()), changes),
        patch=patch,
        reproductions=reproductions,
        exit_status="submitted",
    )


def diff(texts: Texts, changed: Texts) -> str:
    """The patch that makes these texts of the base's."""
    parts = []
    for path, after in changed.items():
        before, now = texts[path].splitlines(True), after.splitlines(True)
        lines = difflib.unified_diff(before, now, f"a/{path}", f"b/{path}")
        parts.append(f"diff --git a/{path} b/{path}\n{''.join(lines)}")
    return "".join(parts)


def _halves(task: FixTask, texts: Texts) -> list[str]:
    """The fix file by file; none when it is one file, whose places may not all be needed."""
    parts = parse(task.gold)
    if len(parts) == 1:
        return []
    return [diff(texts, {each.path: apply(each, texts[each.path]) or ""}) for each in parts]


def _first_place(task: FixTask) -> tuple[str, int]:
    """The first file of the fix, and the first line in it that the fix changes, 1-based."""
    part = parse(task.gold)[0]
    hunk = part.hunks[0]
    before = next(number for number, line in enumerate(hunk.lines) if line[0] != " ")
    return part.path, hunk.old_start + before


async def _body(path: str, text: str, line: int) -> int:
    """The line where the body of the function around `line` begins, 0 outside of functions."""
    unit = enclosing(await units(path, text), line)
    if unit is None or unit.kind == "class":
        return 0
    lines = text.splitlines()
    for number in range(unit.start, unit.end + 1):
        if re.search(r"[:{]\s*(#.*|//.*)?$", lines[number - 1]):
            return number + 1
    return 0


@dataclass(frozen=True, slots=True)
class _Inside:
    """A function's text: its file, and the line where its body begins."""

    path: str
    text: str
    body: int
    is_python: bool

    def with_line(self, python: str, script: str) -> str:
        """The file with a statement as the function's first, or as its last outside of one."""
        statement = python if self.is_python else script
        lines = self.text.splitlines(True)
        if not self.body:
            return "".join([*lines, f"{statement}\n"])
        begins = lines[self.body - 1]
        indent = begins[: len(begins) - len(begins.lstrip())]
        return "".join([*lines[: self.body - 1], f"{indent}{statement}\n", *lines[self.body - 1 :]])


def _reproductions(task: FixTask, texts: Texts) -> Iterable[Reproduction]:
    """The fix's own tests, as files of their own beside those that they change."""
    for part in parse(task.tests):
        if not _is_test(part.path):
            continue
        text = apply(part, texts.get(part.path))
        yield Reproduction(_renamed(part.path), text or "", AUTHOR)


def _is_test(path: str) -> bool:
    return PurePosixPath(path).suffix in {".py", ".js"}


def _renamed(path: str) -> str:
    name = PurePosixPath(path)
    stem = f"{name.stem}_again" if name.suffix == ".py" else name.stem
    if name.suffix == ".js":
        stem, dot, rest = name.stem.partition(".")
        stem = f"{stem}_again{dot}{rest}"
    return str(name.with_name(f"{stem}{name.suffix}"))


def touched(task: FixTask) -> tuple[str, ...]:
    """Paths of the files that fix and tests change."""
    return tuple(dict.fromkeys((*paths(task.gold), *paths(task.tests))))
