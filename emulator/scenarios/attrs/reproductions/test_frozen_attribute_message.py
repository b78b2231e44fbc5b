import attr
import pytest
from attr.exceptions import FrozenAttributeError


@attr.s
class Account:
    number = attr.ib(on_setattr=attr.setters.frozen)


def test_frozen_attribute_says_what_is_wrong():
    with pytest.raises(FrozenAttributeError) as caught:
        Account(1).number = 2
    assert str(caught.value) == "can't set attribute"
