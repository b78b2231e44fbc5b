"""Whatever changes what a parser reads makes another store."""

import json
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from pipeline.index.store import version
from pipeline.index.store.version import number_of, packages, sources

# Everything that a build and its parsers import, with all languages.
IMPORTED = """
import json, sys
before = set(sys.modules)
import pipeline.index.build, pipeline.index.lifeline, pipeline.index.worker
from pipeline.index.languages import specs
specs()
new = {name: getattr(sys.modules[name], "__file__", None) for name in set(sys.modules) - before}
print(json.dumps(new))
"""


JUDGES = {"pyflakes"}  # of patches: nothing of a store comes from it


@pytest.fixture(scope="module")
def imported() -> dict[str, str | None]:
    """Modules and their files."""
    done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, check=True)
    found: dict[str, str | None] = json.loads(done.stdout)
    return found


def test_all_own_code_of_a_build_counts(imported: dict[str, str | None]) -> None:
    """No module that a build or a parser imports is left out, nor any query."""
    own = {Path(file) for name, file in imported.items() if file and name.startswith("pipeline.")}
    outside = {"pipeline/__init__.py", "pipeline/errors.py"}  # the first error, and nothing else
    counted = set(sources())
    root = Path(version.__file__).parents[3]
    assert {str(file.relative_to(root)) for file in own - counted} <= outside
    assert {file for file in own if "worker" in file.name} < counted
    assert set((root / "pipeline/index/languages").rglob("*.scm")) < counted


def test_all_packages_of_a_build_count(imported: dict[str, str | None]) -> None:
    """tree-sitter and each grammar, by the names of what is installed."""
    installed = packages_distributions()
    used = {
        dist.replace("-", "_")
        for name in imported
        for dist in installed.get(name.partition(".")[0], ())
    }
    assert used - JUDGES == set(packages())
    assert len(used) > 9


def test_each_of_them_changes_the_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file, a new file, a package, Python: none gives the number that was before."""
    monkeypatch.setattr(version, "_INDEX", tmp_path)
    files = [tmp_path / name for name in ("a.py", "b.scm")]
    for file in files:
        file.write_text("x")
    used = {"tree_sitter": "1.0"}
    numbers = [number_of(files, used, "3"), number_of(files[:1], used, "3")]
    numbers.append(number_of(files, {"tree_sitter": "1.1"}, "3"))
    numbers.append(number_of(files, {**used, "tree_sitter_x": "1"}, "3"))
    numbers.append(number_of(files, used, "4"))
    for file in files:
        file.write_text("y")
        numbers.append(number_of(files, used, "3"))
    assert len(set(numbers)) == len(numbers)
    assert number_of(files, used, "3") == numbers[-1]
