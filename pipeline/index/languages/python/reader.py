"""Python text read with `ast`: parsed, never compiled to code, imported or run.

One pass over the tree with an explicit stack; what cannot hold anything of interest is not entered.
"""

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pipeline.index.languages.bindings import OPEN, OTHER, kept
from pipeline.index.languages.python.bound import given, handed, names_in, parameters
from pipeline.index.languages.python.heads import callee, doc, head
from pipeline.index.languages.spec import Found
from pipeline.index.languages.strings import MIN_LENGTH, pieces
from pipeline.index.values import Binding, Call, Definition, Import

_Define = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Assign = ast.Assign | ast.AugAssign | ast.AnnAssign
_Stack = list[Any]  # nodes, None where one is missing, and owners
_LEAVES = frozenset({ast.Name, ast.Pass, ast.Break, ast.Continue, type(None)})
_REFUSALS = (SyntaxError, ValueError, RecursionError, MemoryError)


def compiles(text: str) -> bool:
    """Whether this interpreter's parser accepts the text."""
    return _tree(text) is not None


def read(text: str) -> Found | None:
    """Read a text; None when it is not the Python of this interpreter, or nests too deep."""
    tree = _tree(text)
    if tree is None:
        return None
    reading = _Reading(text)
    reading.walk(tree)
    return Found(
        tuple(reading.definitions),
        tuple(reading.imports),
        tuple(reading.calls),
        tuple(dict.fromkeys(reading.exports)),
        tuple(dict.fromkeys(reading.strings)),
        bindings=tuple(kept(reading.bound(), reading.calls)),
    )


def _tree(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except _REFUSALS:
        return None


class _Reading:
    """The lists that one pass fills."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.definitions: list[Definition] = []
        self.imports: list[Import] = []
        self.calls: list[Call] = []
        self.exports: list[str] = []
        self.strings: list[str] = []
        self.bindings: list[Binding] = []
        self.elsewhere: set[tuple[str, str]] = set()

    def bound(self) -> Iterator[Binding]:
        """What is bound where; `global` and `nonlocal` names belong to another place."""
        return (b for b in self.bindings if (b.owner, b.name) not in self.elsewhere)

    def walk(self, tree: ast.Module) -> None:
        """Visit what can hold something; the stack lives here, not in the interpreter's.

        The hottest loop of the index: the owner changes seldom, so it stands on the stack only
        before the nodes it owns, as a string.
        """
        stack: _Stack = [tree]
        owner = ""
        handlers, fields_of, leaves = _HANDLERS, _FIELDS, _LEAVES
        while stack:
            node = stack.pop()
            kind = node.__class__
            if kind in leaves:
                continue
            if isinstance(node, str):
                owner = node
                continue
            handle = handlers.get(kind)
            if handle is not None and handle(self, node, owner, stack):
                continue
            for name in fields_of.get(kind) or _fields(kind):
                value = getattr(node, name)
                if value.__class__ is list:
                    stack += value[::-1]
                else:
                    stack.append(value)

    def constant(self, node: ast.Constant, owner: str, stack: _Stack) -> bool:
        value = node.value
        if value.__class__ is str and len(value) >= MIN_LENGTH and " " in value:
            self.strings.extend(pieces(value))
        return True

    def call(self, node: ast.Call, owner: str, stack: _Stack) -> bool:
        self.calls.append(Call(owner, callee(node.func), node.lineno))
        return False

    def expression(self, node: ast.Expr, owner: str, stack: _Stack) -> bool:
        """Skip docstrings and `...`."""
        return node.value.__class__ is ast.Constant

    def define(self, node: _Define, owner: str, stack: _Stack) -> bool:
        name = f"{owner}.{node.name}" if owner else node.name
        decorators = node.decorator_list
        is_class = isinstance(node, ast.ClassDef)
        self.definitions.append(
            Definition(
                name=name,
                kind="class" if is_class else "function",
                start=min([node.lineno, *(d.lineno for d in decorators)]),
                end=node.end_lineno or node.lineno,
                signature=head(self.lines, node.lineno),
                doc=doc(node.body),
                bases=tuple(map(callee, node.bases)) if isinstance(node, ast.ClassDef) else (),
            )
        )
        for decorator in decorators:
            # A bare decorator is called with what it decorates.
            if not isinstance(decorator, ast.Call):
                self.calls.append(Call(owner, callee(decorator), decorator.lineno))
        if not isinstance(node, ast.ClassDef):
            self.bindings.extend(Binding(name, each, OPEN) for each in parameters(node.args))
        # What stands in the head is evaluated around the definition, not by it.
        stack += (owner, *node.body[::-1], name)
        heads: Iterable[ast.AST] = (
            (*decorators, *node.bases, *(k.value for k in node.keywords))
            if isinstance(node, ast.ClassDef)
            else (*decorators, *node.args.defaults, *filter(None, node.args.kw_defaults))
        )
        stack += tuple(heads)[::-1]
        return True

    def module(self, node: ast.Import, owner: str, stack: _Stack) -> bool:
        for found in node.names:
            alias = found.asname or found.name
            self.imports.append(Import(found.name, "", alias, node.lineno))
        return True

    def names(self, node: ast.ImportFrom, owner: str, stack: _Stack) -> bool:
        module = "." * node.level + (node.module or "")
        for found in node.names:
            alias = "" if found.name == "*" else found.asname or found.name
            self.imports.append(Import(module, found.name, alias, node.lineno))
        return True

    def assign(self, node: _Assign, owner: str, stack: _Stack) -> bool:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if not owner and any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
            items = getattr(node.value, "elts", ())
            values = (item.value for item in items if isinstance(item, ast.Constant))
            self.exports.extend(value for value in values if isinstance(value, str))
        self.bind(owner, targets, OPEN if isinstance(node, ast.AugAssign) else given(node.value))
        return False

    def bind(self, owner: str, targets: Iterable[ast.AST | None], value: str) -> None:
        for target in targets:
            for name, whole in names_in(target):
                self.bindings.append(Binding(owner, name, value if whole else OTHER))

    def named(self, node: ast.NamedExpr, owner: str, stack: _Stack) -> bool:
        self.bind(owner, (node.target,), given(node.value))
        return False

    def loop(self, node: ast.For | ast.AsyncFor, owner: str, stack: _Stack) -> bool:
        self.bind(owner, (node.target,), OTHER)
        return False

    def comprehension(self, node: ast.comprehension, owner: str, stack: _Stack) -> bool:
        """Its names are its own, but a definition that reuses them for another thing is rare."""
        if owner:
            self.bind(owner, (node.target,), OTHER)
        return False

    def anonymous(self, node: ast.Lambda, owner: str, stack: _Stack) -> bool:
        if owner:
            self.bindings.extend(Binding(owner, each, OTHER) for each in parameters(node.args))
        return False

    def caught(self, node: ast.ExceptHandler, owner: str, stack: _Stack) -> bool:
        if node.name:
            self.bindings.append(Binding(owner, node.name, handed(node.type)))
        return False

    def matched(self, node: ast.MatchAs | ast.MatchStar, owner: str, stack: _Stack) -> bool:
        if node.name:
            self.bindings.append(Binding(owner, node.name, OTHER))
        return False

    def outer(self, node: ast.Global | ast.Nonlocal, owner: str, stack: _Stack) -> bool:
        self.elsewhere.update((owner, name) for name in node.names)
        return True

    def entered(self, node: ast.withitem, owner: str, stack: _Stack) -> bool:
        """`with C() as x` mostly gives a C."""
        self.bind(owner, (node.optional_vars,), given(node.context_expr))
        return False


_HANDLERS: dict[type, Callable[[_Reading, Any, str, _Stack], bool]] = {
    ast.Constant: _Reading.constant,
    ast.Call: _Reading.call,
    ast.Expr: _Reading.expression,
    ast.FunctionDef: _Reading.define,
    ast.AsyncFunctionDef: _Reading.define,
    ast.ClassDef: _Reading.define,
    ast.Import: _Reading.module,
    ast.ImportFrom: _Reading.names,
    ast.Assign: _Reading.assign,
    ast.AugAssign: _Reading.assign,
    ast.AnnAssign: _Reading.assign,
    ast.NamedExpr: _Reading.named,
    ast.For: _Reading.loop,
    ast.AsyncFor: _Reading.loop,
    ast.comprehension: _Reading.comprehension,
    ast.Lambda: _Reading.anonymous,
    ast.ExceptHandler: _Reading.caught,
    ast.MatchAs: _Reading.matched,
    ast.MatchStar: _Reading.matched,
    ast.Global: _Reading.outer,
    ast.Nonlocal: _Reading.outer,
    ast.withitem: _Reading.entered,
}
_FIELDS: dict[type, tuple[str, ...]] = {}
# Fields that hold words, or nothing that is evaluated where they stand.
_SKIPPED = frozenset(
    {
        *("ctx", "op", "ops", "annotation", "returns", "type_comment", "type_ignores"),
        *("id", "attr", "arg", "name", "names", "rest", "kwd_attrs", "conversion", "simple"),
        *("is_async", "kind", "posonlyargs", "kwonlyargs", "vararg", "kwarg", "tag"),
    }
)


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that can hold something, last first: a stack turns them."""
    skipped = _SKIPPED | {"args"} if kind is ast.arguments else _SKIPPED
    found = tuple(name for name in reversed(kind._fields) if name not in skipped)
    return _FIELDS.setdefault(kind, found)
