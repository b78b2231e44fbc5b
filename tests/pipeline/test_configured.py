"""The part of `.github/prism.yml` that speaks of the method."""

import pytest

from pipeline.configured import configured
from pipeline.services import RunConfig
from sandbox.errors import ConfigInvalid
from tests.fakes import MemorySource


async def read(text: str, config: RunConfig | None = None) -> RunConfig:
    """The settings of a run on a repository with that file."""
    return await configured(MemorySource({".github/prism.yml": text}), config or RunConfig())


async def test_a_repository_chooses_over_the_operator() -> None:
    """Given keys replace the operator's, all others stay."""
    operator = RunConfig(effort="lean", coder_turns=7)
    found = await read("method: {effort: adaptive, vote: majority, stop_early: true}", operator)
    assert found == RunConfig(effort="adaptive", vote="majority", stop_early=True, coder_turns=7)


@pytest.mark.parametrize("text", ["", "env: {test: make}", "method:", "method: {effort: null}"])
async def test_without_a_word_nothing_changes(text: str) -> None:
    """An empty file, another section and empty values leave the operator's settings."""
    assert await read(text, RunConfig(effort="lean")) == RunConfig(effort="lean")


async def test_tests_that_the_operator_requires_stay_required() -> None:
    """A repository cannot switch the operator's requirement off, but on."""
    assert (
        await read("method: {require_tests: false}", RunConfig(require_tests=True))
    ).require_tests
    assert (await read("method: {require_tests: true}")).require_tests


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("method: {effort: most}", "effort"),
        ("method: {coder_turns: 5000}", "coder_turns"),
        ("method: {require_tests: 'yes'}", "require_tests"),
        ("method: {effort: true}", "effort"),
        ("method: [full]", "method"),
        ("method: {1: full}", "1"),
    ],
)
async def test_what_is_not_understood_is_said(text: str, said: str) -> None:
    """Unknown keys and values name themselves instead of doing nothing."""
    with pytest.raises(ConfigInvalid, match=said):
        await read(text)
