"""Find the test runner behind a package's `test` script, through the scripts it calls."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sandbox.base import SuiteRunner

PLACEHOLDER = "no test specified"
_DEPTH = 8
_CALL = re.compile(
    r"(?:npm|pnpm|yarn)(?: (?:-s|--silent))?"
    r"(?: run(?:-script)?(?: (?:-s|--silent))?)? (?P<name>[\w:.-]+)(?P<rest>.*)"
)
_SERIES = re.compile(r"(?:npm-run-all|run-s|npm-run-all2)\b(?P<rest>.*)")
# Programs that run another one, with the options that stand before it.
_WRAPPERS = frozenset(
    {"c8", "nyc", "cross-env", "cross-env-shell", "dotenv", "npx", "env", "time", "npm-exec"}
)
_RUNNERS: Mapping[str, SuiteRunner] = {
    "mocha": "mocha",
    "_mocha": "mocha",
    "jest": "jest",
    "tape": "tape",
}
_OTHERS = frozenset(
    {"tap", "ava", "borp", "uvu", "lab", "jasmine", "karma", "qunit", "nodeunit", "taps"}
    | {"react-scripts", "lerna", "turbo", "nx", "wtr", "playwright", "tsd", "bron", "aegir"}
)
_NOT_TESTS = re.compile(
    r"(?:^|[\s:/-])(?:lint\w*|eslint|standard|xo|prettier|format\w*|tslint|biome|typecheck|"
    r"types?|check-types|dtslint|tsd|audit|coverage|size|commitlint|publint|attw|knip|evalmd|ls|"
    r"clean|readme|docs?)(?:$|[\s:-])"
)
_QUOTED_OR_END = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.|(?P<end>&&|;)""", re.DOTALL)
_CHECKED_ONLY = re.compile(r"(?:npx )?(?:vue-)?tsc\b[^&;]*--noEmit\b[^&;]*")
_TEST_WORD = re.compile(
    r"(^|[:_-])(tests?|unit|spec|mocha|jest|vitest|node|tests-only|ci)($|[:_-])"
)
_BUILDS = re.compile(r"\b(build|compile|tsc|rollup|babel|bundle|prepare|generate|gen|esbuild)\b")


@dataclass(frozen=True, slots=True)
class TestScript:
    """What runs the tests: a script by name, or one plain command of a script.

    `command` is "" when the whole script is meant. `hooks` says whether scripts run before and
    after it: "needed" when they build something, "other" when they lint or measure.
    """

    __test__ = False

    name: str
    command: str
    runner: SuiteRunner
    hooks: Literal["", "other", "needed"] = ""


def find_test_script(scripts: Mapping[str, str]) -> TestScript | None:
    """The script to run for the tests alone: no linting before or after. None without tests."""
    name = next((n for n in ("test", "tests", "test:unit", "unit") if _is_test(scripts.get(n))), "")
    return _follow(scripts, name, 0) if name else None


def _is_test(script: str | None) -> bool:
    return bool(script and script.strip() and PLACEHOLDER not in script)


def _follow(scripts: Mapping[str, str], name: str, depth: int) -> TestScript:
    around = f"{scripts.get('pre' + name, '')} {scripts.get('post' + name, '')}"
    built = bool(_BUILDS.search(_NOT_TESTS.sub(" ", _CHECKED_ONLY.sub(" ", around))))
    steps = _steps(scripts[name], scripts)
    tests = [one for one in steps if not _is_check(one)] or steps
    chosen = _best(tests, scripts)
    hooks: Literal["", "other", "needed"] = "other" if around.strip() else ""
    if not chosen:
        return TestScript(name, "", "exit_code", "needed" if built else hooks)
    built = built or any(_BUILDS.search(one) for one in tests[: tests.index(chosen)])
    called = _called(chosen, scripts)
    if called and called != name and depth < _DEPTH:
        inner = _follow(scripts, called, depth + 1)
        return inner if not built else TestScript(name, "", inner.runner, "needed")
    runner = runner_of(chosen)
    alone = len(steps) == 1 or built
    # Options reach only the last command of a script, so a runner before others is none.
    if built and steps[-1] != chosen:
        runner = "exit_code"
    return TestScript(name, "" if alone else chosen, runner, "needed" if built else hooks)


def _matching(word: str, scripts: Mapping[str, str]) -> list[str]:
    """The scripts a word of run-s means, unit tests first: `test:*` is one level of names."""
    if "*" not in word:
        return [word]
    pattern = re.escape(word).replace(r"\*\*", ".+").replace(r"\*", "[^:]+")
    return sorted((n for n in scripts if re.fullmatch(pattern, n)), key=lambda n: "unit" not in n)


def _steps(script: str, scripts: Mapping[str, str]) -> list[str]:
    """Commands in order; those of run-s as calls of their scripts. Pipes stay in one piece."""
    steps: list[str] = []
    for step in _split(script):
        series = _SERIES.match(step.strip())
        if series:
            names = [word for word in _words(series["rest"]) if not word.startswith("-")]
            steps += [f"npm run {name}" for word in names for name in _matching(word, scripts)]
        elif step.strip():
            steps.append(step.strip())
    return steps[:50] or [script]


def _split(script: str) -> Iterator[str]:
    """What stands between `&&` and `;` that no quotes hold."""
    start = 0
    for found in _QUOTED_OR_END.finditer(script):
        if found["end"]:
            yield script[start : found.start()]
            start = found.end()
    yield script[start:]


def _is_check(step: str) -> bool:
    return bool(_NOT_TESTS.search(_program(step)) or _CHECKED_ONLY.fullmatch(step))


def _best(steps: list[str], scripts: Mapping[str, str]) -> str:
    """The step that leads to a known runner, else one named for tests, else "": all of them."""
    for step in steps:
        if runner_of(step) != "exit_code" or runner_of(_body(step, scripts)) != "exit_code":
            return step
    for step in steps:
        if set(_words(step)) & _OTHERS or set(_words(_body(step, scripts))) & _OTHERS:
            return step
    named = [step for step in steps if _TEST_WORD.search(_called(step, scripts))]
    return named[0] if named else steps[0] if len(steps) == 1 else ""


def _body(step: str, scripts: Mapping[str, str]) -> str:
    called = _called(step, scripts)
    return scripts.get(called, "") if called else ""


def _called(step: str, scripts: Mapping[str, str]) -> str:
    """The script a step calls; one with further arguments is a command of its own."""
    match = _CALL.fullmatch(step.strip())
    if not match or match["name"] not in scripts:
        return ""
    return match["name"] if not match["rest"].replace("--", "").strip() else ""


def _program(step: str) -> str:
    """The words that name what a step does: script or program, without its arguments."""
    match = _CALL.fullmatch(step.strip())
    if match:
        return match["name"]
    return next((word for word in _words(step) if word not in _WRAPPERS and "=" not in word), "")


def _words(step: str) -> list[str]:
    try:
        return shlex.split(step, comments=False)
    except ValueError:
        return step.split()


def runner_of(step: str) -> SuiteRunner:
    """The runner whose options can be added at the end of a command."""
    if re.search(r"[|<>`]|&(?!&)", step) or "&&" in step:
        return "exit_code"
    words = [word.rsplit("/", 1)[-1] for word in _words(step) if "=" not in word]
    plain = [word for word in words if word not in _WRAPPERS and not word.startswith("-")]
    first = plain[0] if plain else ""
    wrapped = words[:1] != [first]
    for name in plain[:4] if wrapped or first == "node" else plain[:1]:
        if name.removesuffix(".js") in _RUNNERS:
            return _RUNNERS[name.removesuffix(".js")]
        if name in {"vitest", "vitest.mjs"}:
            return "vitest"
    node_flags = [word for word in words if word.startswith("--test")]
    return "node" if "node" in words and "--test" in node_flags else "exit_code"
