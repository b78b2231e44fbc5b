"""Diffs are split into files and numbered rows."""

from emulator.github.diff_view import files

DIFF = """diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -3,3 +3,3 @@ def f():
 same
--- old line
+++ new line
\\ No newline at end of file
diff --git a/bin b/bin
new file mode 100644
Binary files /dev/null and b/bin differ
"""


def test_files() -> None:
    """Lines that look like headers inside a hunk are content; numbers follow both sides."""
    text, binary = files(DIFF)
    assert (text.path, text.added, text.deleted) == ("a.py", 1, 1)
    assert [(each.kind, each.old, each.new) for each in text.rows] == [
        ("hunk", None, None),
        ("same", 3, 3),
        ("del", 4, None),
        ("add", None, 4),
        ("note", None, None),
    ]
    assert text.rows[2].text == "-- old line"
    assert [each.kind for each in binary.rows] == ["note", "note"]


def test_nothing() -> None:
    """An empty diff has no files."""
    assert files("") == []
