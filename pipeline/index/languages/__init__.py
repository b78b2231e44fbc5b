"""The languages of the index, found by folder: adding one touches nothing else.

A folder of this package defines `SPECS`, one `Spec` per language it reads.
"""

from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from pkgutil import iter_modules

from pipeline.index.languages.spec import Spec

_TEST_FOLDERS = frozenset({"tests", "__tests__", "testdata"})
_TOP_TEST_FOLDERS = frozenset({"test", "testing", "spec", "specs", "e2e"})


@cache
def specs() -> tuple[Spec, ...]:
    """All languages, by folder name."""
    folders = sorted(found.name for found in iter_modules(__path__) if found.ispkg)
    return tuple(spec for name in folders for spec in import_module(f"{__name__}.{name}").SPECS)


def spec_of(path: str) -> Spec | None:
    """The language of a file by its suffix, in whatever case; None when there is none."""
    return _by_suffix().get(PurePosixPath(path).suffix.lower())


def language_of(path: str) -> str | None:
    """The name of a file's language by its suffix, None when it has none."""
    spec = spec_of(path)
    return spec.name if spec else None


def is_test(path: str) -> bool:
    """Whether a path is test code: by its folders, and by its name as its language writes tests.

    A folder `test` below the top is a test folder except in Python, where it is often a package
    that users import (`django/test`).
    """
    *folders, name = path.split("/")
    if not (_TEST_FOLDERS.isdisjoint(folders) and _TOP_TEST_FOLDERS.isdisjoint(folders[:1])):
        return True
    spec = spec_of(path)
    if spec is None:
        return False
    return spec.is_test(name) or (spec.name != "python" and "test" in folders)


@cache
def _by_suffix() -> dict[str, Spec]:
    return {suffix: spec for spec in specs() for suffix in spec.suffixes}
