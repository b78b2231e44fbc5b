"""Detect how a PHP project is set up and tested, from its composer.json."""

from typing import Any

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.detect.tree import Tree
from sandbox.environment.documents import read_json

_INSTALL = "composer install --no-interaction --no-progress --prefer-dist"


async def detect_php(
    source: Source, files: tuple[str, ...], directory: str = ""
) -> EnvironmentPlan | None:
    """The plan of the composer.json in `directory`; its own `test` script, else PHPUnit."""
    tree = Tree(source, files, directory)
    if not tree.has("composer.json"):
        return None
    composer = read_json(await tree.text("composer.json"))
    if not composer:
        return None
    locked = tree.has("composer.lock")
    return EnvironmentPlan(
        language="php",
        setup=(_INSTALL,),
        test=_test(tree, composer),
        runner="exit_code",
        origin=tree.name("composer.json") + (" and composer.lock" if locked else ""),
        directory=tree.directory,
    )


def _test(tree: Tree, composer: dict[str, Any]) -> str:
    scripts = composer.get("scripts")
    if isinstance(scripts, dict) and "test" in scripts:
        return "composer run-script test"
    needs = composer.get("require-dev")
    known = isinstance(needs, dict) and "phpunit/phpunit" in needs
    configured = tree.has("phpunit.xml") or tree.has("phpunit.xml.dist")
    return "vendor/bin/phpunit" if known or configured else ""
