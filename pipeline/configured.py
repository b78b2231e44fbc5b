"""What a repository asks of the method in `.github/prism.yml`, over what the operator said."""

from dataclasses import replace
from typing import Any

from pipeline.jsonable import to_json
from pipeline.model.schema import validate
from pipeline.services import RunConfig
from sandbox.base import Source
from sandbox.environment.config import CONFIG_PATH, section
from sandbox.errors import ConfigInvalid

# Turns, parallel work and money are the operator's; these only say how candidates are chosen.
KEYS = (
    "branch_weights",
    "contrast",
    "effort",
    "require_tests",
    "stop_early",
    "synthesis_scope",
    "vote",
)


async def configured(source: Source, config: RunConfig) -> RunConfig:
    """The run's settings with the mapping `method` of the base commit's file over them.

    Raises ConfigInvalid naming the key. A repository may ask for tests, never do without them
    where the operator asks.
    """
    data = await source.read(CONFIG_PATH)
    return config if data is None else over(config, section(data, "method"))


def over(config: RunConfig, given: Any) -> RunConfig:
    """`config` with the given keys replaced; raises ConfigInvalid for anything else."""
    said = {key: value for key, value in given.items() if value is not None}
    for key, value in said.items():
        if key not in KEYS:
            known = ", ".join(KEYS)
            raise ConfigInvalid(f"{CONFIG_PATH}: `method.{key}` is not known; known are {known}.")
        if isinstance(getattr(config, key), bool) is not isinstance(value, bool):
            raise ConfigInvalid(f"{CONFIG_PATH}: `method.{key}` is of the wrong kind.")
    found = validate(RunConfig, {**to_json(config), **said})
    if isinstance(found, str):
        raise ConfigInvalid(f"{CONFIG_PATH}: in `method`, {found}")
    return replace(found, require_tests=found.require_tests or config.require_tests)
