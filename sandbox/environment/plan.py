"""How a repository is set up and tested: configured or detected.

Pure reading of files at the base commit; nothing is executed. The backends provide what the
lines rely on: for Python a virtual environment outside the tree that is first on PATH.
"""

import re
from dataclasses import dataclass

import yaml

from sandbox.base import EnvironmentPlan, Source, SuiteRunner
from sandbox.environment.detect.node import detect_node
from sandbox.environment.detect.python import detect_python
from sandbox.errors import ConfigInvalid

CONFIG_PATH = ".github/prism.yml"
CONFIG_LIMIT = 64_000

_RUNNERS: tuple[tuple[str, SuiteRunner], ...] = (
    (r"\b(py\.?test)\b", "pytest"),
    (r"-m unittest\b", "unittest"),
    (r"\bmocha\b", "mocha"),
    (r"\bjest\b", "jest"),
    (r"\bnode\b.*--test\b", "node"),
)


@dataclass(frozen=True, slots=True)
class RepositoryConfig:
    """The `env` part of `.github/prism.yml`; empty values were not given."""

    setup: tuple[str, ...] = ()
    test: str = ""


async def make_plan(source: Source) -> EnvironmentPlan:
    """Decide set-up lines and test command, each from the first place that has it.

    Order: `.github/prism.yml` at the base commit, detection. `origin` says which. A plan without
    a test command is possible. Raises ConfigInvalid when the file is malformed.
    """
    config = await read_config(source)
    files = await source.files()
    found = await detect_python(source, files) or await detect_node(source, files)
    if found is None:
        found = EnvironmentPlan("unknown", (), "", "exit_code", "nothing recognised")
    test = config.test or found.test
    return EnvironmentPlan(
        language=found.language,
        setup=config.setup or found.setup,
        test=test,
        runner=found.runner if test == found.test else recognise_runner(test),
        origin=_origin(config, found.origin),
    )


async def read_config(source: Source) -> RepositoryConfig:
    """The repository's own settings; all empty without the file."""
    data = await source.read(CONFIG_PATH)
    return RepositoryConfig() if data is None else parse_config(data)


def parse_config(data: bytes) -> RepositoryConfig:
    """Read `env.setup` (a line or a list of lines) and `env.test` (a line).

    Raises ConfigInvalid naming the key. Other top-level keys are other parts' business; a key
    of `env` that nothing reads is refused, because it would silently do nothing.
    """
    if len(data) > CONFIG_LIMIT:
        raise ConfigInvalid(f"{CONFIG_PATH} is larger than 64 kB.")
    try:
        document = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        where = str(getattr(error, "problem_mark", "") or "").strip()
        raise ConfigInvalid(f"{CONFIG_PATH} is not valid YAML: {where or error}.") from None
    if document is None:
        return RepositoryConfig()
    if not isinstance(document, dict):
        raise ConfigInvalid(f"{CONFIG_PATH} must be a mapping with the key `env`.")
    env = document.get("env")
    if env is None:
        return RepositoryConfig()
    if not isinstance(env, dict):
        raise ConfigInvalid(f"{CONFIG_PATH}: `env` must be a mapping with `setup` and `test`.")
    unknown = sorted(str(key) for key in env if key not in {"setup", "test"})
    if unknown:
        raise ConfigInvalid(f"{CONFIG_PATH}: `env.{unknown[0]}` is not known (setup, test are).")
    return RepositoryConfig(_setup_lines(env.get("setup")), _test_line(env.get("test")))


def _setup_lines(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    lines = [value] if isinstance(value, str) else value
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise ConfigInvalid(f"{CONFIG_PATH}: `env.setup` must be a line or a list of lines.")
    return tuple(line.strip() for line in lines if line.strip())


def _test_line(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ConfigInvalid(f"{CONFIG_PATH}: `env.test` must be one command line.")
    return value.strip()


def recognise_runner(test: str) -> SuiteRunner:
    """Whose report a command can leave; "exit_code" when nobody's."""
    for pattern, runner in _RUNNERS:
        if re.search(pattern, test):
            return runner
    return "exit_code"


def _origin(config: RepositoryConfig, detected: str) -> str:
    places = [CONFIG_PATH if given else detected for given in (config.setup, config.test)]
    if places[0] == places[1]:
        return places[0]
    return f"set-up: {places[0]}; test: {places[1]}"
