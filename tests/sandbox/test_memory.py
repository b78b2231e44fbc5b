"""Named values: what goes in comes out, nothing is shared, everything is bounded."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.errors import NotAllowed
from sandbox.memory import MAX_NAMES, MAX_TOTAL, MAX_VALUE, Memory

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(min_size=1, max_size=100), JSON, max_size=8))
def test_values_come_back(values: dict[str, object]) -> None:
    """Any JSON value is kept under its name, and names keep their order."""
    memory = Memory()
    for name, value in values.items():
        memory.put(name, value)
    assert memory.names() == tuple(values)
    assert json.dumps([memory.get(name) for name in values]) == json.dumps([*values.values()])


def test_nothing_is_shared() -> None:
    """Changing what was put in, taken out or copied changes no memory."""
    memory, value = Memory(), {"steps": [1]}
    memory.put("plan", value)
    value["steps"].append(2)
    memory.get("plan")["steps"].append(3)
    copy = memory.copy()
    copy.put("plan", None)
    copy.put("more", 1)
    memory.forget("absent")
    assert memory.get("plan") == {"steps": [1]}
    assert (memory.names(), memory.get("more")) == (("plan",), None)


def test_bounds() -> None:
    """Number, names, single values and the sum are limited; what was there stays."""
    memory = Memory()
    for value in (object(), float("nan"), {1, 2}, "x" * MAX_VALUE):
        with pytest.raises(NotAllowed):
            memory.put("a", value)
    for name in ("", "n" * 101):
        with pytest.raises(NotAllowed, match="1 to 100 characters"):
            memory.put(name, 1)
    for number in range(MAX_TOTAL // MAX_VALUE):
        memory.put(f"large-{number}", "x" * (MAX_VALUE - 2))
    with pytest.raises(NotAllowed, match="too large"):
        memory.put("one more", "x" * (MAX_VALUE - 2))
    memory.put("large-0", "replaced")
    for number in range(MAX_NAMES - len(memory.names())):
        memory.put(f"small-{number}", number)
    with pytest.raises(NotAllowed, match="forget one first"):
        memory.put("one more", 1)
    memory.put("small-0", "replaced")
    memory.forget("small-1")
    memory.put("one more", 1)
