"""What tox would install and run, read instead of run: tox itself would need a network later."""

import configparser
import re
import shlex
from dataclasses import dataclass
from typing import Any

from sandbox.environment.declared.script import LINE_LIMIT
from sandbox.environment.detect.python_manifests import Manifests
from sandbox.environment.documents import read_toml, table, texts
from sandbox.environment.python_version import IMAGE_PYTHON

_COVERAGE = (
    r"(?:python3?\s+-m\s+)?coverage\s+run\s+"
    r"(?:(?:--(?:source|rcfile|include|omit|context|data-file)\s+\S+|-(?!m\s)\S+)\s+)*"
)


@dataclass(frozen=True, slots=True)
class TestEnv:
    """A test environment of tox or nox: requirements, extras, groups and its command lines.

    `directory` is the folder the commands run in, "" for the project's.
    """

    __test__ = False

    needs: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    directory: str = ""


async def read_tox(manifests: Manifests) -> TestEnv:
    """The base test environment of tox.ini, setup.cfg, tox.toml or pyproject.toml."""
    ini = manifests.tox if manifests.tox.has_section("testenv") else manifests.setup_cfg
    section = next((s for s in ("testenv", "tox:testenv") if ini.has_section(s)), "")
    if section:
        return _from_ini(ini, section)
    native = read_toml(await manifests.text("tox.toml")) if manifests.has("tox.toml") else {}
    return _from_table(table(native or table(manifests.tool, "tox"), "env_run_base"))


def _from_ini(ini: configparser.ConfigParser, section: str) -> TestEnv:
    def lines(key: str) -> list[str]:
        raw = ini.get(section, key, fallback="") or ""
        joined = re.sub(r"\\\n\s*", " ", raw)
        plain = [_plain(text) for text in joined.splitlines() if len(text) <= LINE_LIMIT]
        return [text for text in plain if text]

    def names(key: str) -> tuple[str, ...]:
        words = re.split(r"[\s,]+", " ".join(lines(key)))
        return tuple(word for word in words if re.fullmatch(r"[\w.-]+", word))

    return TestEnv(
        needs=_needs(lines("deps")),
        extras=names("extras"),
        groups=names("dependency_groups"),
        commands=tuple(one for one in map(command, lines("commands")) if one),
        directory=_folder(" ".join(lines("changedir") or lines("change_dir"))),
    )


def _from_table(env: dict[str, Any]) -> TestEnv:
    rows = env.get("commands")
    commands = [shlex.join(texts(row)) for row in rows] if isinstance(rows, list) else []
    return TestEnv(
        needs=_needs(list(texts(env.get("deps")))),
        extras=texts(env.get("extras")),
        groups=texts(env.get("dependency_groups")),
        commands=tuple(one for one in map(command, commands) if one),
        directory=_folder("".join(texts(env.get("change_dir")))),
    )


def _folder(text: str) -> str:
    folder = re.sub(r"\{(toxinidir|tox_root)\}/?", "", text).strip("/ ")
    return folder if re.fullmatch(r"[\w-][\w./-]*", folder) and ".." not in folder else ""


def _plain(line: str) -> str:
    """A line without its comment; "" when its factors (`py38,numpy: x`) are of another env."""
    text = line.split(" #", maxsplit=1)[0].strip()
    factors = re.match(r"([\w,!.{}-]+)\s*:\s+", text)
    if not factors:
        return text
    return text[factors.end() :] if any(map(_is_ours, factors[1].split(","))) else ""


def _is_ours(factor: str) -> bool:
    """A factor of every environment on the image's Python, or the absence of another one."""
    ours = {"py", "py3", "python", "py" + IMAGE_PYTHON.replace(".", ""), f"py{IMAGE_PYTHON}"}
    return factor in ours or (factor.startswith("!") and factor[1:] not in ours)


def _needs(lines: list[str]) -> tuple[str, ...]:
    """Plain requirements: no substitutions, no paths; `-r file` stays two words."""
    listed: list[str] = []
    for line in lines:
        # What comes from elsewhere than a registry is out of a set-up's reach.
        if re.search(r"[{]|://", line) or line[0] in "#./" or line.startswith(("-e", "-c", "--")):
            continue
        requirements = re.fullmatch(r"-r\s*(\S+)", line)
        if requirements and (".." in requirements[1] or requirements[1].startswith("/")):
            continue
        listed += ["-r", requirements[1]] if requirements else [line]
    return tuple(listed)


def command(line: str) -> str:
    """A command of tox as a shell line, "" when it needs what only tox knows."""
    line = re.sub(r"\{posargs(?::([^{}]*))?\}", lambda match: match[1] or "", line)
    line = re.sub(r"\{env:\w+:([^{}]*)\}", r"\1", line)
    line = line.replace("{envpython}", "python").replace("{env_python}", "python")
    line = re.sub(r"\{(toxinidir|tox_root)\}/?", "", line)
    line = re.sub(r"^[-!@]+\s*", "", line).strip()
    if re.search(r"[{}$`;|&<>\n\0]", line) or not line:
        return ""
    return plain_command(line)


def plain_command(line: str) -> str:
    """A test command without the measuring of coverage around it."""
    line = re.sub(rf"^{_COVERAGE}-m\s+", "python -m ", line)
    line = re.sub(rf"^{_COVERAGE}", "python ", line)
    line = re.sub(r"\s--(junit-?xml|cov-report|cov-config)([= ]\S+)(?=\s|$)", "", line)
    line = re.sub(r"\s--(no-)?cov(-[\w-]+)?(=\S*)?(?=\s|$)", "", line)
    return re.sub(r"^(py\.?test)\b", "python -m pytest", line).strip()
