"""The configuration page stays complete."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_variable_that_is_read_is_documented() -> None:
    """Each environment name in settings.py has a row in docs/configuration.md, and no other."""
    source = (ROOT / "app/settings.py").read_text()
    reads = r'(?:text|url|port|number|whole|choice)\(\s*"([A-Z_]+)"|environ\.get\("([A-Z_]+)"'
    names = re.findall(reads, source)
    read = {left or right for left, right in names}
    page = (ROOT / "docs/configuration.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]

    documented = set(re.findall(r"`([A-Z_]+)`", " ".join(rows)))

    assert documented == read
