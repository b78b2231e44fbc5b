"""Which model answers which role: an agent's name, or the prompt of a single verdict."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from pipeline.errors import RoleUnknown
from pipeline.prompts.render import FOLDER, MARK

VERDICT = "verdict"
GROUPS: Mapping[str, str] = {"completeness": "reviewer", "risk": "reviewer"}
"""Roles that can be named together; every single verdict is a `verdict` besides."""


@dataclass(frozen=True, slots=True)
class RoleModels:
    """`default` answers what nothing else is named for, `by_role` is keyed by role or group."""

    default: str
    by_role: Mapping[str, str] = field(default_factory=dict)

    def of(self, role: str, *, verdict: bool) -> str:
        """The model of a role; its own name goes before its group, the group before `verdict`."""
        named = (role, GROUPS.get(role, ""), VERDICT if verdict else "")
        return next((self.by_role[name] for name in named if name in self.by_role), self.default)

    def models(self) -> dict[str, tuple[str, ...]]:
        """Every model that may be asked and the roles it is named for, the default's first."""
        found: dict[str, tuple[str, ...]] = {self.default: ("default",)}
        for role in sorted(self.by_role):
            model = self.by_role[role]
            found[model] = (*found.get(model, ()), role)
        return found


@cache
def known_roles() -> frozenset[str]:
    """All roles and groups: the prompts with a system part, and what they belong to."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    prompts = {name for name, text in texts.items() if text.partition(MARK)[0].strip()}
    return frozenset(prompts | set(GROUPS.values()) | {VERDICT})


def read_models(text: str, default: str, verdict: str = "") -> RoleModels:
    """From PRISM_MODELS (JSON {role: model}, "" is none) over PRISM_MODEL and PRISM_VERDICT_MODEL.

    Raises RoleUnknown with the expected form or the roles there are.
    """
    form = 'PRISM_MODELS must be JSON like {"planner": "model-name", "verdict": "model-name"}'
    try:
        data = json.loads(text or "{}")
    except ValueError:
        raise RoleUnknown(f"{form}.") from None
    if not isinstance(data, dict) or not all(isinstance(m, str) and m for m in data.values()):
        raise RoleUnknown(f"{form}, a name for every role.")
    require_roles("PRISM_MODELS", data)
    return RoleModels(default, ({VERDICT: verdict} if verdict else {}) | data)


def require_roles(setting: str, names: Mapping[str, object]) -> None:
    """Raise RoleUnknown unless every name is a role or a group."""
    unknown = sorted(set(names) - known_roles())
    if unknown:
        raise RoleUnknown(
            f"{setting} names {', '.join(map(repr, unknown))}, which is no role. The roles are: "
            f"{', '.join(sorted(known_roles()))}."
        )
