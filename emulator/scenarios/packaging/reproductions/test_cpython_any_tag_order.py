import sys

from packaging import tags


def test_cpython_tag_comes_right_before_the_python_tags_for_any_platform(monkeypatch):
    monkeypatch.setattr(tags, "interpreter_name", lambda: "cp")
    version = "{}{}".format(*sys.version_info[:2])
    order = list(tags.sys_tags())
    python = order.index(tags.Tag("py" + version, "none", "any"))
    assert order[python - 1] == tags.Tag("cp" + version, "none", "any")
