import sys

import pytest
from packaging import tags


@pytest.fixture(autouse=True)
def cpython(monkeypatch):
    monkeypatch.setattr(tags, "interpreter_name", lambda: "cp")


def test_wheel_for_this_cpython_and_any_platform_is_supported():
    interpreter = "cp{}{}".format(*sys.version_info[:2])
    assert tags.Tag(interpreter, "none", "any") in set(tags.sys_tags())
