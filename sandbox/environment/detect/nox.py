"""What nox would install and run, read from noxfile.py, which is never run."""

import ast
import re
import shlex

from sandbox.environment.declared.script import LINE_LIMIT
from sandbox.environment.detect.python_manifests import Manifests
from sandbox.environment.detect.tox import TestEnv, plain_command
from sandbox.environment.documents import read_python

_TEST_SESSION = re.compile(r"(unit[-_]?)?tests?([-_]\w+)?|pytest|unit", re.IGNORECASE)
_VALUE_OPTIONS = {"-r", "--requirement", "-c", "--constraint", "-e", "--group", "--extra"}


async def read_nox(manifests: Manifests) -> TestEnv:
    """The first test session: constant arguments of its `install` and `run` calls."""
    if not manifests.has("noxfile.py"):
        return TestEnv()
    tree = read_python(await manifests.text("noxfile.py"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and _is_test_session(node):
            return _session(node)
    return TestEnv()


def _is_test_session(node: ast.FunctionDef) -> bool:
    return bool(_TEST_SESSION.fullmatch(node.name)) and any(
        _last_name(one).endswith("session") for one in node.decorator_list
    )


def _last_name(decorator: ast.expr) -> str:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    if isinstance(decorator, ast.Attribute):
        return decorator.attr
    return decorator.id if isinstance(decorator, ast.Name) else ""


def _session(function: ast.FunctionDef) -> TestEnv:
    needs: list[str] = []
    extras: list[str] = []
    groups: list[str] = []
    commands: list[str] = []
    for call in ast.walk(function):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        words = _constants(call)
        if call.func.attr == "install":
            _sort(words, needs, extras, groups)
        elif call.func.attr == "run" and words and len(words) == _plain_arguments(call):
            commands.append(plain_command(shlex.join(words)))
    return TestEnv(tuple(needs), tuple(extras), tuple(groups), tuple(commands))


def _sort(words: list[str], needs: list[str], extras: list[str], groups: list[str]) -> None:
    """Put pip's arguments where they belong; the project itself is installed anyway."""
    previous = ""
    for word in words:
        project = re.fullmatch(r"(?:\.|[\w.-]+ ?@ ?\.|-e ?\.)(?:\[([\w,.\- ]+)\])?", word)
        if project and previous != "-r":
            extras += [one.strip() for one in (project[1] or "").split(",") if one.strip()]
        elif previous in {"-r", "--requirement"}:
            if not word.startswith(("/", "..")):
                needs += ["-r", word]
        elif previous == "--group":
            groups.append(word)
        elif word and word[0] not in "-./" and previous not in _VALUE_OPTIONS:
            needs.append(word)
        previous = word


def _constants(call: ast.Call) -> list[str]:
    return [
        argument.value
        for argument in call.args
        if isinstance(argument, ast.Constant)
        and isinstance(argument.value, str)
        and len(argument.value) <= LINE_LIMIT
    ]


def _plain_arguments(call: ast.Call) -> int:
    """How many arguments there are, `*session.posargs` aside."""
    return sum(not isinstance(argument, ast.Starred) for argument in call.args)
