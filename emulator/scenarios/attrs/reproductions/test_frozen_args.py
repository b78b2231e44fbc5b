import attr
import pytest
from attr.exceptions import FrozenInstanceError


def test_the_exception_is_initialised_with_its_message():
    @attr.s(frozen=True)
    class Point:
        x = attr.ib()

    with pytest.raises(FrozenInstanceError) as caught:
        Point(1).x = 2
    assert caught.value.args == ("can't set attribute",)
    assert repr(caught.value) == 'FrozenInstanceError("can\'t set attribute")'
