"""`.github/prism.yml`: what a repository's maintainers say about its set-up.

Read at the base commit, so from the default branch and never from an issue or a pull request.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from sandbox.base import Source
from sandbox.environment.documents import YAML_LIMIT, is_text, typed_yaml
from sandbox.environment.packages import is_package
from sandbox.errors import ConfigInvalid

CONFIG_PATH = ".github/prism.yml"
_COUNT_LIMIT = 200
_HOLDING = {"env": " with `setup` and `test`"}
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_IMAGE = re.compile(r"[a-z0-9][\w./:@-]{0,300}", re.IGNORECASE)
# Who commits is a project's own business; every other variable of git changes what git does.
_RESERVED = re.compile(
    r"PATH|HOME|VIRTUAL_ENV|ENV|BASH.*|SHELLOPTS|PS4|IFS|POSIXLY_CORRECT|TMPDIR|CDPATH|GLOBIGNORE|"
    r"SSH2?_CLIENT|LD_.*|GLIBC_TUNABLES|PRISM_.*|(?i:(?:https?|all|ftp|no)_proxy)|"
    r"GIT_(?!(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)$).*"
)


@dataclass(frozen=True, slots=True)
class RepositoryConfig:
    """The `env` part of `.github/prism.yml`; empty values were not given.

    `setup` is None when it was not given; an empty one says that nothing is to be installed.
    `apt` are Debian packages, `hosts` further hosts the set-up may reach and `image` a base
    image: both only as far as the operator admits them. `untested` allows a run to go on
    without tests when the set-up fails.
    """

    setup: tuple[str, ...] | None = None
    test: str = ""
    image: str = ""
    apt: tuple[str, ...] = ()
    vars: tuple[tuple[str, str], ...] = ()
    hosts: tuple[str, ...] = ()
    directory: str = ""
    untested: bool = False


async def read_config(source: Source) -> RepositoryConfig:
    """The repository's own settings; all empty without the file."""
    data = await source.read(CONFIG_PATH)
    return RepositoryConfig() if data is None else parse_config(data)


def parse_config(data: bytes) -> RepositoryConfig:
    """Read and check the mapping `env`.

    Raises ConfigInvalid naming the key. Other top-level keys are other parts' business; a key
    of `env` that nothing reads is refused, because it would silently do nothing.
    """
    env = section(data, "env")
    unknown = sorted(
        key if isinstance(key, str) else type(key).__name__ for key in env if key not in _READERS
    )
    if unknown:
        raise ConfigInvalid(
            f"{CONFIG_PATH}: `env.{unknown[0]}` is not known; known keys are "
            f"{', '.join(sorted(_READERS))}."
        )
    given = {key: _READERS[key](key, value) for key, value in env.items() if value is not None}
    return RepositoryConfig(**given)


def section(data: bytes, key: str) -> Mapping[Any, Any]:
    """The mapping under a top-level key, empty when it is not given; raises ConfigInvalid."""
    if len(data) > YAML_LIMIT:
        raise ConfigInvalid(f"{CONFIG_PATH} is larger than 64 kB.")
    try:
        document = typed_yaml(data)
    except yaml.YAMLError as error:
        where = str(getattr(error, "problem_mark", "") or "").strip()
        raise ConfigInvalid(f"{CONFIG_PATH} is not valid YAML: {where or error}.") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigInvalid(f"{CONFIG_PATH} must be a mapping with the key `env`.")
    found = document.get(key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ConfigInvalid(f"{CONFIG_PATH}: `{key}` must be a mapping{_HOLDING.get(key, '')}.")
    return found


def _lines(key: str, value: object) -> tuple[str, ...]:
    lines = [value] if isinstance(value, str) else value
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise _invalid(key, "a line or a list of lines")
    if len(lines) > _COUNT_LIMIT or not all(map(is_text, lines)):
        raise _invalid(key, f"at most {_COUNT_LIMIT} lines without null characters")
    return tuple(line.strip() for line in lines if line.strip())


def _line(key: str, value: object) -> str:
    if not isinstance(value, str) or not is_text(value):
        raise _invalid(key, "one command line")
    return value.strip()


def _words(is_one: Callable[[str], object], what: str) -> Callable[[str, object], tuple[str, ...]]:
    def read(key: str, value: object) -> tuple[str, ...]:
        listed = value.split() if isinstance(value, str) else value
        if not isinstance(listed, list) or len(listed) > _COUNT_LIMIT:
            raise _invalid(key, f"a list of {what}")
        for one in listed:
            if not isinstance(one, str) or not is_one(one):
                raise _invalid(key, f"a list of {what}, which {str(one)[:60]!r} is not one of")
        return tuple(dict.fromkeys(listed))

    return read


def _hosts(key: str, value: object) -> tuple[str, ...]:
    return tuple(host.lower() for host in _words(_HOST.fullmatch, "host names")(key, value))


def _variables(key: str, value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict) or len(value) > _COUNT_LIMIT:
        raise _invalid(key, "a mapping of names to values")
    pairs = []
    for name, content in value.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise _invalid(key, f"names of letters, digits and _, unlike {str(name)[:60]!r}")
        if is_reserved(name):
            raise _invalid(key, f"variables of the project; {name} belongs to the sandbox")
        pairs.append((name, _scalar(key, name, content)))
    return tuple(pairs)


def is_reserved(name: str) -> bool:
    """Whether a variable decides where the sandbox finds its own tools and folders."""
    return bool(_RESERVED.fullmatch(name))


def _scalar(key: str, name: str, content: object) -> str:
    if isinstance(content, bool):
        return str(content).lower()
    try:
        text = str(content) if isinstance(content, str | int | float) else "\0"
    except ValueError:  # a number of thousands of digits
        text = "\0"
    if not is_text(text):
        raise _invalid(key, f"text values, unlike that of {name}")
    return text


def _image(key: str, value: object) -> str:
    if not isinstance(value, str) or not _IMAGE.fullmatch(value):
        raise _invalid(key, "an image reference such as `python@sha256:…`")
    return value


def _directory(key: str, value: object) -> str:
    text = value.strip().strip("/") if isinstance(value, str) else ""
    if not isinstance(value, str) or value.startswith("/") or not is_inside(text):
        raise _invalid(key, "a folder of the repository, such as `packages/core`")
    return "" if text == "." else text


def is_inside(path: str) -> bool:
    """Whether a relative path names something inside the tree without detours."""
    return is_text(path) and not re.search(r"(^|/)\.\.(/|$)|[\n\\]", path)


def _flag(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _invalid(key, "true or false")
    return value


def _invalid(key: str, must_be: str) -> ConfigInvalid:
    return ConfigInvalid(f"{CONFIG_PATH}: `env.{key}` must be {must_be}.")


_READERS: Mapping[str, Callable[[str, object], Any]] = {
    "setup": _lines,
    "test": _line,
    "image": _image,
    "apt": _words(is_package, "exact Debian package names"),
    "vars": _variables,
    "hosts": _hosts,
    "directory": _directory,
    "untested": _flag,
}
