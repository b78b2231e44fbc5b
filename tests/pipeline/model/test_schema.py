"""Schemas are plain JSON without references, and validation speaks in words."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.agent.finishing import PlanArguments, SubmitArguments
from pipeline.contest.tools import ChooseArguments
from pipeline.model import verdicts
from pipeline.model.schema import schema_of, validate
from pipeline.model.verdicts import JudgeVerdict, RankVerdict
from pipeline.values import Change

VERDICTS = [kind for name, kind in vars(verdicts).items() if name.endswith("Verdict")]


@pytest.mark.parametrize("kind", [*VERDICTS, PlanArguments])
def test_a_schema_stands_alone(kind: type) -> None:
    """No `$ref`, no docstrings, an object at the top: what every host understands."""
    schema = schema_of(kind)
    text = json.dumps(schema)
    assert schema["type"] == "object"
    assert "$ref" not in text
    assert "description" not in text
    assert len(text) < 4000


def test_a_judge_is_a_plan() -> None:
    """The verdict turns into the pipeline's plan, sources kept."""
    data: dict[str, Any] = {
        "defects": [],
        "complements": [],
        "summary": "s",
        "root_cause": "r",
        "expected_behaviour": "e",
        "strategy": "m",
        "context": [{"path": "a.py"}],
        "changes": [{"path": "a.py", "what": "w", "sources": ["G1", "L2.1"]}],
        "rejected": [],
    }
    verdict = validate(JudgeVerdict, data)
    assert isinstance(verdict, JudgeVerdict)
    assert verdict.plan().changes == (Change("a.py", "w", sources=("G1", "L2.1")),)
    assert verdict.plan().solution.strategy == "m"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([1], "must be a JSON object"),
        ({}, "order: Field required"),
        ({"order": [0], "x": 1}, "Unknown field: x"),
        ({"order": ["a"] * 9}, "order.4"),
    ],
)
def test_problems_are_named(data: object, words: str) -> None:
    """At most five, with their place."""
    found = validate(RankVerdict, data)
    assert isinstance(found, str)
    assert words in found
    assert "order.5" not in found


KINDS = [*VERDICTS, PlanArguments, SubmitArguments, ChooseArguments]
NAMES = sorted({name for kind in KINDS for name in schema_of(kind)["properties"]})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(st.sampled_from(KINDS), JSON)
def test_whatever_is_handed_in_is_valid_or_said_to_be_wrong(kind: type, raw: Any) -> None:
    """Fuzzed arguments of verdicts and last calls: a value or a sentence, never an error."""
    found = validate(kind, raw)
    assert isinstance(found, kind) or (isinstance(found, str) and found)
