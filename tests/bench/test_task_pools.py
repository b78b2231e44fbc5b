"""Pools around a known fix hold what they say, in Python and JavaScript."""

import json
from dataclasses import replace

import pytest

from bench.task_pools import GOLD, FixTask, Pool, configuration, diff, exclusions, pool_of
from sandbox.patch.patch import apply, parse, paths

TEXTS = {
    "a.py": "def f(x):\n    return x\n\n\ndef g(x):\n    return x\n",
    "b.py": "LIMIT = 1\n",
    "tests/test_a.py": "from a import f\n\n\ndef test_f():\n    assert f(1) == 1\n",
    "index.js": "module.exports = function (x) {\n  return x;\n};\n",
}
TASK = FixTask(
    name="made-1",
    repository="made/up",
    base_commit="0" * 40,
    title="f must add one",
    body="f(1) is 1, and should be 2.",
    gold=diff(TEXTS, {"a.py": TEXTS["a.py"].replace("x\n", "x + 1\n", 1), "b.py": "LIMIT = 2\n"}),
    tests=diff(TEXTS, {"tests/test_a.py": TEXTS["tests/test_a.py"].replace("== 1", "== 2")}),
    fail_to_pass=("tests/test_a.py::test_f",),
    run="PYTHONPATH=. python -m pytest -o addopts= tests/test_a.py",
    packages=("pytest",),
)


def _after(pool: Pool, name: str) -> dict[str, str | None]:
    (candidate,) = (each for each in pool.candidates if each.id == name)
    return {part.path: apply(part, TEXTS[part.path]) for part in parse(candidate.patch)}


async def test_a_pool_of_two_files() -> None:
    """The fix once, each half twice, a broken one, misses, and the fix's tests in a new file."""
    pool = await pool_of(TASK, TEXTS)
    assert _after(pool, GOLD) == _after(pool, "G2") | {"a.py": _after(pool, GOLD)["a.py"]}
    assert "    raise OSError\n    return x + 1\n" in str(_after(pool, "G2")["a.py"])
    assert [sorted(_after(pool, half)) for half in pool.halves] == [["a.py"], ["b.py"]] * 2
    assert _after(pool, "G1") == {
        "a.py": TEXTS["a.py"].replace("    return", '    prism_unused = "0"\n    return', 1)
    }
    (reproduction,) = pool.candidates[0].reproductions
    assert reproduction.path == "tests/test_a_again.py"
    assert "f(1) == 2" in reproduction.text
    assert exclusions(TASK, TEXTS, frozenset({"tests/test_a.py::test_f", "other"}))[
        0
    ].test.endswith("f")


@pytest.mark.parametrize("outside", [True, False])
async def test_a_pool_of_one_place(outside: bool) -> None:
    """One place has no halves; outside of a function a file is broken at its end."""
    path = "b.py" if outside else "index.js"
    text = TEXTS[path].replace("1", "2").replace("return x", "return x + 1")
    task = replace(TASK, gold=diff(TEXTS, {path: text}), run="node --test")
    task = replace(TASK, gold=task.gold) if outside else task
    pool = await pool_of(task, TEXTS)
    assert pool.halves == ()
    broken = str(_after(pool, "G2")[path])
    assert broken.endswith("raise OSError\n") if outside else "{\n  throw Error();\n" in broken
    assert all(paths(each.patch) == (path,) for each in pool.candidates)


def test_how_a_task_is_set_up() -> None:
    """Packages first, then what stood before the tests; variables apart from the command."""
    assert json.loads(configuration(TASK)) == {
        "env": {
            "setup": ["python -m pip install --quiet pytest"],
            "test": "python -m pytest -o addopts= tests/test_a.py",
            "vars": {"PYTHONPATH": ".", "SETUPTOOLS_SCM_PRETEND_VERSION": "99.0"},
        }
    }
