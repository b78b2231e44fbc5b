"""Names that a Python file uses and nothing defines, by pyflakes. Static; facts only."""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator

from pyflakes.checker import Checker
from pyflakes.messages import UndefinedName

# Python 2's names, and what gettext, notebooks, profilers and type checkers put among the built-in
# ones: a file that uses them may know what it does.
_NAMES = (
    "apply basestring buffer cmp coerce execfile file intern long raw_input reduce reload unichr"
    " unicode xrange StandardError _ N_ gettext ngettext pgettext npgettext get_ipython display"
    " profile reveal_type reveal_locals ic WindowsError"
)
_ELSEWHERE = frozenset(_NAMES.split())
# Names may come from anywhere in a file that does one of these.
_DYNAMIC = re.compile(
    r"\b(globals|locals|vars|exec|builtins|__builtins?__|_getframe|__dict__\.update)\b"
    r"|\bsys\.modules\b"
)
_CATCHES = frozenset({"NameError", "Exception", "BaseException"})


def undefined(path: str, text: str) -> frozenset[str]:
    """Names whose use is a NameError once it is reached; none where that is not certain.

    Not certain: in a file that does not parse or makes names while it runs, after `import *`, under
    a handler that catches it, in an annotation or a string; names like `__this__` neither.
    """
    if path.endswith(".pyi") or _DYNAMIC.search(text):
        return frozenset()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.encode("utf-8", "surrogateescape"))
            found = Checker(tree, filename=path).messages
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names = [each for each in found if isinstance(each, UndefinedName)]
    excused = set(_excused(tree)) if names else set()
    used = {str(each.message_args[0]) for each in names if (each.lineno, each.col) not in excused}
    return frozenset(name for name in used - _ELSEWHERE if not name.startswith("__"))


def _excused(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Where a name may stand undefined: line and column."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str()):
                yield node.lineno, node.col_offset
            case ast.arg(annotation=ast.AST() as hint) | ast.AnnAssign(annotation=hint):
                yield from _within([hint])
            case (
                ast.FunctionDef(returns=ast.AST() as hint)
                | ast.AsyncFunctionDef(returns=ast.AST() as hint)
            ):
                yield from _within([hint])
            case ast.Try(body=body, handlers=handlers) if any(map(_catches, handlers)):
                yield from _within(body)


def _within(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, int]]:
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.expr):
                yield each.lineno, each.col_offset


def _catches(handler: ast.ExceptHandler) -> bool:
    caught = ast.walk(handler.type) if handler.type is not None else ()
    names = {each.id for each in caught if isinstance(each, ast.Name)}
    return handler.type is None or not names.isdisjoint(_CATCHES)
