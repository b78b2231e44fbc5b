"""Which project of a repository is taken, and in which language it is seen."""

import pytest

from sandbox.environment.plan import make_plan
from tests.fakes import MemorySource

MONOREPO = {
    "README.md": "",
    "services/api/pyproject.toml": "[project]\nname='api'\n",
    "services/api/tests/test_a.py": "",
    "services/api/app/a.py": "",
    "web/package.json": '{"scripts": {"test": "jest"}}',
    "web/src/a.js": "",
    "web/node_modules/x/package.json": '{"scripts": {"test": "jest"}}',
    "docs/package.json": '{"scripts": {"test": "jest"}}',
    "cli/go.mod": "module a\n",
    "cli/main_test.go": "",
}


@pytest.mark.parametrize(
    ("hints", "directory", "language"),
    [
        ((), "cli", "go"),
        (("web/src/a.js",), "web", "node"),
        (
            ("services/api/app/a.py", "services/api/app/b.py", "web/src/a.js"),
            "services/api",
            "python",
        ),
        (("README.md",), "cli", "go"),
        (("../../etc/passwd", "", "web"), "cli", "go"),
    ],
)
async def test_named_files_choose_the_project(
    hints: tuple[str, ...], directory: str, language: str
) -> None:
    """The project whose files are named, else the first shallow one with tests."""
    plan = await make_plan(MemorySource(MONOREPO), hints)
    assert (plan.directory, plan.language) == (directory, language)
    assert any(note.startswith("Manifests elsewhere, not used:") for note in plan.notes)


async def test_configured_directory_wins() -> None:
    """A folder given in the settings is the only one looked at."""
    files = {**MONOREPO, ".github/prism.yml": "env: {directory: web}"}
    plan = await make_plan(MemorySource(files), ("services/api/app/a.py",))
    assert (plan.directory, plan.test) == ("web", "npm test")


async def test_root_goes_first_when_it_has_tests() -> None:
    """Projects below a root that can be tested are only noted."""
    files = {**MONOREPO, "package.json": '{"scripts": {"test": "mocha"}}'}
    assert (await make_plan(MemorySource(files))).directory == ""


@pytest.mark.parametrize(
    ("files", "language"),
    [
        (
            {
                "package.json": '{"scripts": {"test": "x"}}',
                "setup.py": "",
                "a.py": "",
                "test_a.py": "",
            },
            "python",
        ),
        (
            {
                "package.json": '{"scripts": {"test": "x"}}',
                "requirements.txt": "",
                "a.js": "",
                "b.js": "",
            },
            "node",
        ),
        ({"Cargo.toml": "[package]\nname='a'\n", "src/lib.rs": "", "requirements.txt": ""}, "rust"),
        ({"go.mod": "module a", "a.go": "", "a_test.go": "", "package.json": "{}"}, "go"),
        ({"Makefile": "test:\n\tx\n"}, "unknown"),
    ],
)
async def test_language_of_most_files_is_asked_first(files: dict[str, str], language: str) -> None:
    """A manifest for tools beside the code does not make the project."""
    plan = await make_plan(MemorySource(files))
    assert plan.language == language
    assert plan.test
