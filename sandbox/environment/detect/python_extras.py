"""Which extras a Python project offers, read from its manifests."""

import ast

from sandbox.environment.detect.python_manifests import Manifests
from sandbox.environment.documents import read_python, table


def extras(manifests: Manifests) -> set[str]:
    """Names of optional dependencies from pyproject.toml, setup.cfg and setup.py."""
    found = set(table(manifests.pyproject, "project", "optional-dependencies"))
    found |= set(table(manifests.tool, "poetry", "extras"))
    if manifests.setup_cfg.has_section("options.extras_require"):
        found |= set(manifests.setup_cfg.options("options.extras_require"))
    return found | _setup_py_extras(manifests.setup_py)


def _setup_py_extras(text: str) -> set[str]:
    """Keys of a literal `extras_require={…}`, also by way of a variable; setup.py is never run."""
    tree = read_python(text)
    nodes = list(ast.walk(tree))
    values: list[ast.expr] = [
        node.value
        for node in nodes
        if isinstance(node, ast.keyword) and node.arg == "extras_require"
    ]
    names = {value.id for value in values if isinstance(value, ast.Name)} | {"extras_require"}
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id in names:
                    values.append(node.value)
                if isinstance(target, ast.Subscript) and _names_one(target.value, names):
                    values.append(ast.Dict(keys=[target.slice], values=[node.value]))
    return {
        key.value
        for value in values
        if isinstance(value, ast.Dict)
        for key in value.keys
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def _names_one(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names
