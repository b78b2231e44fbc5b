"""Environments as JSON, and the key under which one is found again."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import sha256

from pydantic import TypeAdapter

from sandbox.base import Environment, EnvironmentPlan, Source, TestRun

# Raised when a change of this package makes older environments unusable.
RECIPE_VERSION = 4
OUTPUT_KEPT = 20_000

_ADAPTER: TypeAdapter[Environment] = TypeAdapter(Environment)


def environment_key(
    source: Source,
    plan: EnvironmentPlan,
    base: str,
    variables: Mapping[str, str],
    instance: str = "",
) -> str:
    """Hash of everything an environment depends on; `base` is an image id or an interpreter.

    `instance` keeps installations on one engine apart.
    """
    parts = [RECIPE_VERSION, instance, source.repository, source.base_commit, asdict(plan), base]
    text = json.dumps([*parts, dict(variables)], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:32]


def dependencies_key(
    source: Source,
    plan: EnvironmentPlan,
    base: str,
    variables: Mapping[str, str],
    inputs: tuple[tuple[str, str], ...],
    instance: str = "",
) -> str:
    """Hash of what the set-up lines install: the same for commits with the same inputs.

    How the plan was found and how its tests are read does not count.
    """
    what = replace(plan, origin="", notes=(), runner="exit_code")
    parts = [RECIPE_VERSION, instance, source.repository, asdict(what), base, inputs]
    text = json.dumps([*parts, dict(variables)], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:32]


def dump_environment(environment: Environment) -> bytes:
    """JSON of an environment; outputs of the base runs are cut to their end."""
    cut = replace(
        environment,
        baseline=_cut(environment.baseline),
        baseline_again=_cut(environment.baseline_again),
    )
    return _ADAPTER.dump_json(cut)


def load_environment(data: bytes, reference: str) -> Environment:
    """The environment as it was stored, marked as reused, with its present reference.

    Raises ValueError when `data` is of another version.
    """
    return replace(_ADAPTER.validate_json(data), reference=reference, cached=True)


def _cut(run: TestRun | None) -> TestRun | None:
    return None if run is None else replace(run, output=run.output[-OUTPUT_KEPT:])
