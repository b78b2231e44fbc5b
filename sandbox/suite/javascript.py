"""JavaScript runners: options that make each leave a report, and how each runs parts alone."""

import re
import shlex
from collections.abc import Mapping

from sandbox.base import SuiteRunner

_FILE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|coffee)$")
_OPTIONS: Mapping[SuiteRunner, str] = {
    "mocha": "--reporter json --reporter-option output={}",
    "jest": "--json --outputFile={}",
    "vitest": "--reporter=default --reporter=json --outputFile.json={}",
}
_PARTS: Mapping[SuiteRunner, str] = {
    "mocha": "npx --no-install mocha",
    "jest": "npx --no-install jest",
    "vitest": "npx --no-install vitest run",
}
_TITLES: Mapping[SuiteRunner, str] = {"mocha": "--grep", "jest": "-t", "vitest": "-t"}
_NO_COVERAGE: Mapping[SuiteRunner, tuple[str, ...]] = {
    "jest": ("--coverage=false",),
    "vitest": ("--coverage.enabled=false",),
}
# What a script loads before its tests; the rest of its options and its folders are left out.
_MOCHA_LOADS = r"""
const script = (require(process.cwd() + '/package.json').scripts || {}).test || '';
const words = (/(?:^|[\s\/])_?mocha\s+(.*)/.exec(script) || ['', ''])[1].split(/\s+/);
const kept = words.filter((word, i) =>
  /^(-r|--require|--import|--loader|-u|--ui)$/.test(word) ||
  /^(-r|--require|--import|--loader|-u|--ui)$/.test(words[i - 1]) ||
  /^--(require|import|loader|ui)=/.test(word));
console.log(kept.join(' '));
"""
# The second reporter, because the first's report is all that one alone would leave.
_NODE = (
    "--test-reporter=spec --test-reporter-destination=stdout "
    "--test-reporter=junit --test-reporter-destination="
)


def javascript_line(runner: SuiteRunner, test: str, targets: tuple[str, ...], report: str) -> str:
    """The line of mocha, jest or vitest: all of `test`, or the targets alone.

    Targets are files or ids `file > title`; where both are given the files run whole.
    """
    options = _OPTIONS[runner].format(shlex.quote(report))
    if not targets:
        # pnpm and yarn hand on what follows the script's name, a `--` included.
        separator = " -- " if test.startswith("npm ") and " -- " not in test else " "
        return f"{test}{separator}{options}"
    files, titles = _split(targets)
    # A part does not reach the coverage that is asked of the whole, and would fail for it.
    words = [_PARTS[runner], *_NO_COVERAGE.get(runner, ())]
    if runner == "mocha":
        words.append(f"$(node -e {shlex.quote(_MOCHA_LOADS)})")
    words.append(options)
    if titles:
        pattern = "|".join(map(_literal, titles))
        words += [_TITLES[runner], shlex.quote(f"^({pattern})$")]
    if runner == "jest" and files:
        words.append("--runTestsByPath")
    return " ".join([*words, *map(shlex.quote, files)])


def node_line(test: str, targets: tuple[str, ...]) -> str:
    """The line of node's own runner; targets are files or ids `suite > test`, of any file."""
    if not targets:
        return test
    files = [target for target in targets if _FILE.search(target)]
    words = ["node --test"]
    for target in targets:
        if target not in files:
            name = " ".join(_literal(part) for part in target.split(" > "))
            words.append(f"--test-name-pattern={shlex.quote(f'^{name}$')}")
    return " ".join([*words, *map(shlex.quote, files)])


def node_options(report: str) -> str:
    """What makes every `node --test` leave a report; goes by the environment (NODE_OPTIONS)."""
    return _NODE + report


def _split(targets: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Files without repetition, and titles when every target has one."""
    parts = [target.partition(" > ") for target in targets]
    files = list(dict.fromkeys(file for file, _, _ in parts))
    titles = [title for _, _, title in parts]
    return files, titles if all(titles) else []


def _literal(text: str) -> str:
    """A regular expression of JavaScript that matches the text itself."""
    return re.sub(r"([\\^$.*+?()[\]{}|/])", r"\\\1", text)
