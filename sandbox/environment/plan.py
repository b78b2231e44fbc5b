"""How a repository is set up and tested: configured, declared, detected or read from CI.

Pure reading of files at the base commit; nothing is executed. The backends provide what the
lines rely on: for Python a virtual environment outside the tree that is first on PATH.
"""

from dataclasses import replace
from posixpath import normpath

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.ci import CiRun, read_ci
from sandbox.environment.config import CONFIG_PATH, RepositoryConfig, is_reserved, read_config
from sandbox.environment.declared.found import Declared
from sandbox.environment.declared.order import declared
from sandbox.environment.detect.table import detect
from sandbox.environment.documents import below, is_text
from sandbox.environment.recognise import recognise_runner
from sandbox.errors import ConfigInvalid

__all__ = ["make_plan", "recognise_runner"]

NOTE_LIMIT = 30
_BARE = ("pip install -e .", "pip install -r requirements.txt", "pip install pytest")
_NOTHING = EnvironmentPlan("unknown", (), "", "exit_code", "nothing recognised")


async def make_plan(source: Source, hints: tuple[str, ...] = ()) -> EnvironmentPlan:
    """Decide set-up lines and test command, each from the first place that has it.

    Set-up: `.github/prism.yml`, copilot-setup-steps, a set-up script for agents, devcontainer,
    detection. Test: `.github/prism.yml`, detection, CI workflows. `origin` says which, `notes`
    what was seen and not used. `hints` are files the issue names; they choose between the
    projects of a monorepo. Lines may be missing: then nothing was found. Raises ConfigInvalid
    when `.github/prism.yml` is malformed. An `image` of the plan is only a wish: whoever opens
    containers has to ask the operator's settings.
    """
    config = await read_config(source)
    files = await source.files()
    if config.directory and not below(files, config.directory):
        raise ConfigInvalid(
            f"{CONFIG_PATH}: `env.directory` names {config.directory}, where there is no file."
        )
    # Lines that a maintainer wrote work where they say, which is the root when they do not.
    own = config.directory or ("" if config.setup is not None or config.test else None)
    found = await detect(source, files, hints, own) or replace(_NOTHING, directory=config.directory)
    ci = None if found.test and not _is_bare(found) else await read_ci(source, files)
    said = await declared(source, files)
    steps = _set_up(config, said, _with_installs(found, ci))
    test, test_origin = _test(config, found, ci)
    return replace(
        found,
        setup=tuple(line for line in steps.setup if is_text(line)),
        test=test if is_text(test) else "",
        runner=found.runner if test == found.test else recognise_runner(test),
        origin=_origin(steps.origin, test_origin),
        packages=tuple(dict.fromkeys((*config.apt, *found.packages, *steps.packages))),
        variables=_variables(steps.variables, config.vars),
        hosts=config.hosts,
        image=config.image,
        notes=tuple(_printable(note) for note in (*steps.notes, *found.notes)[:NOTE_LIMIT]),
    )


def _variables(*given: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Later values win; what no process could be given is left out."""
    merged = {name: value for pairs in given for name, value in pairs}
    return tuple(
        (name, value)
        for name, value in merged.items()
        if is_text(name) and is_text(value) and not is_reserved(name)
    )


def _printable(note: str) -> str:
    return note.encode(errors="replace").decode().replace("\0", "?")


def _set_up(
    config: RepositoryConfig, said: tuple[Declared, ...], found: EnvironmentPlan
) -> Declared:
    """The lines to use; the notes name every declared place that was passed over."""
    notes = tuple(note for one in said for note in one.notes)
    last = said[-1] if said else Declared("")
    if config.setup is not None:
        unused = (f"{last.origin} was not used: {CONFIG_PATH} has set-up lines.",)
        return Declared(CONFIG_PATH, config.setup, notes=unused if last.setup else ())
    if last.setup:
        unused = (f"Not used, because {last.origin} says how: {found.origin}.",)
        lines = tuple(_from_root(line, found.directory) for line in last.setup)
        return replace(last, setup=lines, notes=notes + (unused if found.setup else ()))
    return Declared(found.origin, found.setup, variables=found.variables, notes=notes)


def _from_root(line: str, directory: str) -> str:
    """Lines of a declared place are meant for the root, wherever the tests are."""
    up = normpath("/".join([".."] * (directory.count("/") + 1)))
    return f"cd {up}\n{line}" if directory else line


def _test(config: RepositoryConfig, found: EnvironmentPlan, ci: CiRun | None) -> tuple[str, str]:
    if config.test:
        return config.test, CONFIG_PATH
    if found.test or ci is None:
        return found.test, found.origin
    up = "../" * (found.directory.count("/") + 1) if found.directory else ""
    return (f"cd {up} && {ci.test}" if up else ci.test), ci.origin


def _is_bare(found: EnvironmentPlan) -> bool:
    """A Python project of which nothing says what its tests need."""
    return found.language == "python" and all(line in _BARE for line in found.setup)


def _with_installs(found: EnvironmentPlan, ci: CiRun | None) -> EnvironmentPlan:
    """CI's own pip lines before the rest, where nothing else names what tests need."""
    if ci is None or not ci.installs or not _is_bare(found) or found.directory:
        return found
    return replace(
        found,
        setup=tuple(dict.fromkeys((*ci.installs, *found.setup))),
        origin=f"{found.origin} and {ci.origin}",
    )


def _origin(set_up: str, test: str) -> str:
    return set_up if set_up == test else f"set-up: {set_up}; test: {test}"
