"""The values of a scenario, frozen, and `load`, which reads one from its folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from emulator.model.scripted import Ending, ScriptedCandidate
from pipeline.jsonable import from_json
from pipeline.values import Change, Location

ROOT = Path(__file__).parent
TEST_FOLDER = "tests"  # where all these projects keep their tests, and coders the reproductions


@dataclass(frozen=True, slots=True)
class Sdist:
    """A source distribution; `sha256` is of the .tar.gz, in hex."""

    distribution: str
    version: str
    sha256: str

    @property
    def folder(self) -> str:
        """The one folder that the archive holds."""
        return f"{self.distribution}-{self.version}"


@dataclass(frozen=True, slots=True)
class EnvironmentConfig:
    """What goes into the repository's `.github/prism.yml` under `env`."""

    setup: tuple[str, ...]
    test: str


@dataclass(frozen=True, slots=True)
class Intended:
    """What choosing is meant to find, for tests; nothing that is played reads it.

    `winners` are the ids that may win. `groups` are ids whose patches are the same after
    normalisation, largest first, every id once. `rejected` maps each id that must not pass the
    gate to the reason in words.
    """

    winners: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    rejected: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One issue of one project with the twelve candidates of a scripted run, in run order."""

    name: str
    sdist: Sdist
    title: str
    body: str
    environment: EnvironmentConfig
    search: str
    candidates: tuple[ScriptedCandidate, ...]
    intended: Intended

    def candidate(self, candidate_id: str) -> ScriptedCandidate:
        """The candidate of that id; raises KeyError when there is none."""
        for each in self.candidates:
            if each.id == candidate_id:
                return each
        raise KeyError(candidate_id)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A candidate as `scenario.yaml` writes it: patch and reproduction are file names."""

    id: str
    summary: str
    root_cause: str
    expected_behaviour: str
    strategy: str
    context: tuple[Location, ...]
    changes: tuple[Change, ...]
    patch: str = ""
    reproduction: str = ""
    checks: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    guide: str = ""
    status: str = "fixed"
    ending: Ending = "submits"


def names() -> tuple[str, ...]:
    """The scenarios there are, sorted."""
    return tuple(sorted(path.parent.name for path in ROOT.glob("*/scenario.yaml")))


def load(name: str) -> Scenario:
    """Read a scenario from its folder.

    Raises KeyError with the known names for an unknown one, ValueError (pydantic's, too) for
    data that does not fit, FileNotFoundError for a patch or reproduction that is not there.
    """
    if name not in names():
        raise KeyError(f"No scenario {name!r}; there are {', '.join(names())}.")
    folder = ROOT / name
    data = yaml.safe_load((folder / "scenario.yaml").read_text(encoding="utf-8"))
    title, body = _issue(folder / "issue.md")
    return Scenario(
        name=name,
        sdist=from_json(Sdist, data["sdist"]),
        title=title,
        body=body,
        environment=from_json(EnvironmentConfig, data["environment"]),
        search=data["search"],
        candidates=tuple(_candidate(folder, each) for each in data["candidates"]),
        intended=from_json(Intended, data["intended"]),
    )


def _issue(path: Path) -> tuple[str, str]:
    """Title and body: the first line is the title as a heading."""
    heading, _, body = path.read_text(encoding="utf-8").partition("\n")
    return heading.removeprefix("# ").strip(), body.strip() + "\n"


def _candidate(folder: Path, data: Any) -> ScriptedCandidate:
    if unknown := data.keys() - _Entry.__dataclass_fields__.keys():
        raise ValueError(f"{folder.name}: {data.get('id')} has unknown fields {sorted(unknown)}.")
    entry = from_json(_Entry, data)
    return from_json(
        ScriptedCandidate,
        {
            **{name: getattr(entry, name) for name in _SHARED},
            "patch": _text(folder / "patches", f"{entry.patch}.patch") if entry.patch else "",
            "reproduction": _reproduction(folder, entry.reproduction),
        },
    )


_SHARED = tuple(
    name for name in _Entry.__dataclass_fields__ if name not in {"patch", "reproduction"}
)


def _reproduction(folder: Path, name: str) -> tuple[str, str] | None:
    return (f"{TEST_FOLDER}/{name}", _text(folder / "reproductions", name)) if name else None


def _text(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")
