"""Files written to hurt their reader: every plan ends, in bounded time, with a plan or an error."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.environment.config import CONFIG_PATH, parse_config
from sandbox.environment.documents import (
    plain_yaml,
    read_ini,
    read_json,
    read_python,
    read_toml,
    typed_yaml,
)
from sandbox.environment.plan import make_plan
from sandbox.errors import ConfigInvalid
from tests.fakes import MemorySource

READ = (
    CONFIG_PATH,
    ".github/workflows/copilot-setup-steps.yml",
    ".github/workflows/ci.yml",
    ".openhands/setup.sh",
    ".devcontainer/devcontainer.json",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "tox.toml",
    "noxfile.py",
    "Pipfile",
    "pytest.ini",
    "requirements.txt",
    "uv.lock",
    "tests/test_a.py",
    "package.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    ".nvmrc",
    "go.mod",
    "Cargo.toml",
    "pom.xml",
    "Gemfile",
    "composer.json",
    "Makefile",
)
# Pieces that the readers look for, so that random files get past their first line.
PIECES = st.sampled_from(
    [
        "env:",
        "\n  ",
        "setup: ",
        "[a]",
        "jobs:",
        "steps:",
        "- run: x",
        "${{ matrix.a }}",
        "on: push",
        "copilot-setup-steps:",
        '{"scripts":',
        '{"test": "a && npm run test"}',
        "}",
        "[tool.poetry]",
        "[project]\n",
        "dependencies = [1]\n",
        "[testenv]\ndeps =\n  {x}\n",
        "commands = pytest {a",
        "def tests(session):\n",
        " session.install(*a, 'b')\n",
        "*a",
        "&a ",
        "!!int 9\n",
        "0x",
        "\0",
        "<<: ",
        "? ",
        "2001-99-99",
        "'",
        '"',
        "/*",
        "//",
        "extras_require={1: 2}",
        "\\",
        "\u2028",
        "ß",
        "\\ud800",
        "\\u0000",
    ]
)
BYTES = st.one_of(
    st.binary(max_size=120),
    st.lists(PIECES, max_size=12).map(lambda pieces: "".join(pieces).encode()),
)


class BytesSource(MemorySource):
    """A repository of arbitrary bytes."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__({})
        self._bytes = files

    async def files(self) -> tuple[str, ...]:
        return tuple(sorted(self._bytes))

    async def read(self, path: str) -> bytes | None:
        return self._bytes.get(path)


@settings(max_examples=150, deadline=None)
@given(files=st.dictionaries(st.sampled_from(READ), BYTES, max_size=6))
async def test_any_bytes_give_a_plan(files: dict[str, bytes]) -> None:
    """Whatever the files hold: a plan of plain text, or ConfigInvalid for prism.yml alone."""
    try:
        plan = await make_plan(BytesSource(files))
    except ConfigInvalid:
        assert CONFIG_PATH in files
        return
    assert all(plan.setup)
    for text in (*plan.setup, plan.test, *plan.notes, *(value for _, value in plan.variables)):
        assert "\0" not in text
        text.encode()
    assert ".." not in plan.directory.split("/")


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join(['*' + old] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGE_BOMB = "a: &a {k: v}\n" + "".join(
    f"{new}: &{new}\n  <<: [{','.join(['*' + old] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "aliases": BOMB,
    "merged aliases": MERGE_BOMB,
    "deep lists": "[" * 30_000,
    "deep mappings": "{a: " * 15_000,
    "deep indents": "".join(" " * i + "a:\n" for i in range(300)),
    "question marks": "? " * 30_000,
    "quotes": '"' * 60_000,
    "unclosed comments": "/*" * 30_000,
    "escaped quotes": '"' + '\\"' * 30_000,
    "number without end": "a: " + "9" * 60_000,
    "hexadecimal number": "a: 0x" + "f" * 60_000,
    "deep operators": "a=" + "-" * 60_000 + "1",
    "long chain": "a=1" + "+1" * 30_000,
    "deep table": "[" + ".".join(["a"] * 30_000) + "]",
    "null bytes": "\0" * 60_000,
    "one long line": "a " * 30_000,
    "spaces": "a=" + " " * 60_000 + "b",
    "line continued for ever": "a \\\n" * 15_000,
    "variables": "A=b " * 15_000,
    "and": "a && " * 12_000,
    "braces": "{posargs:" * 6_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
async def test_hostile_files_cost_little(text: str) -> None:
    """Bombs of any kind in every file at once: read in seconds, and nothing is raised."""
    wrapped = {
        "package.json": '{"scripts": {"test": "'
        + text.replace('"', "'").replace("\n", " ")
        + '"}}',
        ".devcontainer.json": '{"postCreateCommand": "x"} ' + text,
        "tox.ini": "[testenv]\ncommands = " + text,
    }
    files = {path: text.encode() for path in READ if path != CONFIG_PATH}
    files |= {path: content.encode() for path, content in wrapped.items()}
    start = time.monotonic()
    await make_plan(BytesSource(files))
    assert time.monotonic() - start < 60  # minutes or more when something is not linear


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_settings_are_refused(text: str) -> None:
    """prism.yml as a bomb is an error that names the file, or no settings at all."""
    try:
        config = parse_config(text.encode())
    except ConfigInvalid as error:
        config = None
        said = str(error)
    assert CONFIG_PATH in said if config is None else not config.setup


async def test_huge_files_are_not_read() -> None:
    """A manifest of megabytes is treated as missing, a workflow above 64 kB too."""
    big = {"pyproject.toml": b"[project]\nname='a'\n" + b"#" * 2_000_000}
    assert (await make_plan(BytesSource(big))).setup == ()
    workflow = "on: push\njobs: {a: {steps: [{run: pytest}]}}\n" + "#" * 70_000
    plan = await make_plan(BytesSource({".github/workflows/a.yml": workflow.encode()}))
    assert plan.test == ""


@given(text=st.text(max_size=200))
def test_readers_never_raise(text: str) -> None:
    """Each reader returns its empty value for what it cannot read."""
    assert isinstance(plain_yaml(text), dict)
    assert isinstance(read_json(text), dict)
    assert isinstance(read_toml(text), dict)
    read_ini(text).sections()
    assert read_python(text).body is not None


def test_aliases_are_refused_by_name() -> None:
    """The reason for refusing an alias is said, not only that the file is invalid."""
    with pytest.raises(ConfigInvalid, match="aliases"):
        parse_config(b"env: &a {setup: x}\nmore: *a\n")
    assert typed_yaml(b"a: yes") == {"a": True}
