"""Read a repository's files as data: bounded in size and depth, and never an error but "".

Everything here was written by strangers. A file that is too large, malformed or hostile (alias
bombs, thousands of brackets, numbers without end) is the same as an empty one.
"""

import ast
import configparser
import json
import re
import tomllib
import warnings
from typing import Any

import yaml

from sandbox.base import Source

TEXT_LIMIT = 400_000
YAML_LIMIT = 64_000
INI_LIMIT = 100_000
_DEPTH = 40
# A comment or a comma before a closing bracket, or a string, which is kept as it is. What is not
# closed runs to the end, so that no text makes this search take more than linear time.
_JSON_EXTRAS = re.compile(
    r'("(?:\\.|[^"\\])*"?)|//[^\n]*|/\*(?:.*?\*/|.*)|,(?=\s*[}\]])', re.DOTALL
)
# The parser takes quadratic time for a key of thousands of parts.
_DEEP_KEY = re.compile(r"(?:\.\s?[\w-]{1,40}\s?){100}")
# What the parsers raise beside their own errors: odd dates and numbers, nesting, null bytes.
_MALFORMED = (ValueError, RecursionError, OverflowError, MemoryError, TypeError, AttributeError)


class YamlRefused(yaml.YAMLError):
    """An alias or a nesting that no set-up needs."""


class _Bounded(yaml.parser.Parser, yaml.composer.Composer):
    """Refuses aliases, because they make a small file a huge value, and deep nesting."""

    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise YamlRefused("aliases (`*name`) are not supported")
        self._depth += 1
        if self._depth > _DEPTH:
            raise YamlRefused(f"it is nested more than {_DEPTH} levels deep")
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


class _Typed(_Bounded, yaml.SafeLoader):
    pass


class _Plain(_Bounded, yaml.BaseLoader):
    pass


def typed_yaml(data: bytes) -> object:
    """A YAML document with numbers and booleans; raises yaml.YAMLError with the reason."""
    try:
        return yaml.load(data, Loader=_Typed)  # noqa: S506 - a SafeLoader that refuses more
    except yaml.YAMLError:
        raise
    except _MALFORMED as error:
        raise yaml.YAMLError(str(error)) from None


def plain_yaml(text: str) -> dict[str, Any]:
    """A YAML mapping whose scalars all stay text (`on`, `3.10`); {} when it is none."""
    if len(text) > YAML_LIMIT:
        return {}
    try:
        document = yaml.load(text, Loader=_Plain)  # noqa: S506 - constructs text, lists, mappings
    except (yaml.YAMLError, *_MALFORMED):
        return {}
    return document if isinstance(document, dict) else {}


async def read_text(source: Source, path: str) -> str:
    """A file's text, "" when it is missing or larger than any manifest."""
    data = await source.read(path)
    if data is None or len(data) > TEXT_LIMIT:
        return ""
    return data.decode(errors="replace").removeprefix("\ufeff")


def read_json(text: str) -> dict[str, Any]:
    """A JSON object, with comments and trailing commas allowed; {} when it is none."""
    plain = _JSON_EXTRAS.sub(lambda match: match[1] or "", text)
    plain = _JSON_EXTRAS.sub(lambda match: match[1] or "", plain)  # commas before a comment
    for candidate in (text, plain):
        try:
            document = json.loads(candidate)
        except _MALFORMED:
            continue
        return document if isinstance(document, dict) else {}
    return {}


def read_toml(text: str) -> dict[str, Any]:
    """A TOML document; {} when it is malformed."""
    if _DEEP_KEY.search(text):
        return {}
    try:
        return tomllib.loads(text)
    except _MALFORMED:
        return {}


def read_ini(text: str) -> configparser.ConfigParser:
    """Sections of an INI file; none when it is malformed or unusually large."""
    if len(text) > INI_LIMIT:
        return configparser.ConfigParser(interpolation=None)
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except (configparser.Error, *_MALFORMED):
        return configparser.ConfigParser(interpolation=None)
    return parser


def read_python(text: str) -> ast.Module:
    """The syntax tree of a module that is never run; an empty one when it is malformed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # strangers' escapes are no business of ours
            return ast.parse(text)
    except (SyntaxError, *_MALFORMED):
        return ast.Module(body=[], type_ignores=[])


def table(value: Any, *keys: str) -> dict[str, Any]:
    """A nested table, {} when any step is missing or something else."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def texts(value: Any) -> tuple[str, ...]:
    """The strings of a list; a single string is a list of one."""
    listed = [value] if isinstance(value, str) else value
    return tuple(x for x in listed if isinstance(x, str)) if isinstance(listed, list) else ()


def is_text(value: str) -> bool:
    """Whether a shell can be given it: no null characters, no halves of characters."""
    return "\0" not in value and not any("\ud800" <= sign <= "\udfff" for sign in value)


def below(files: tuple[str, ...], directory: str) -> tuple[str, ...]:
    """The files of one directory and its folders, as it sees them."""
    if not directory:
        return files
    prefix = directory.rstrip("/") + "/"
    return tuple(path.removeprefix(prefix) for path in files if path.startswith(prefix))
