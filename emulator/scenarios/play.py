"""A scenario as the scripted model plays it."""

from collections.abc import Mapping

from emulator.model.builder import build_script
from emulator.model.script import Script
from emulator.model.scripted import ScriptedRun
from emulator.scenarios.scenario import Scenario


def scripted_run(scenario: Scenario, base_files: Mapping[str, str]) -> ScriptedRun:
    """The scenario in the builder's terms; `base_files` as from `repository.base_files`."""
    return ScriptedRun(scenario.candidates, base_files, search=scenario.search)


def script(scenario: Scenario, base_files: Mapping[str, str]) -> Script:
    """Model answers by call address; raises ScriptError when a patch does not fit the base."""
    return build_script(scripted_run(scenario, base_files))
