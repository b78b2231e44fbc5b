import attr
import pytest
from attr.exceptions import FrozenInstanceError


@attr.s(frozen=True)
class Point:
    x = attr.ib()


def test_assignment_says_what_is_wrong():
    with pytest.raises(FrozenInstanceError) as caught:
        Point(1).x = 2
    assert str(caught.value) == "can't set attribute"


def test_deletion_says_what_is_wrong():
    with pytest.raises(FrozenInstanceError) as caught:
        del Point(1).x
    assert str(caught.value) == "can't set attribute"
