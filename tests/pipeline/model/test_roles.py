"""Each role has its model, and a role that does not exist is refused at the start."""

import pytest

from pipeline.agent.roles import CODER, PLANNER
from pipeline.errors import RoleUnknown
from pipeline.model.roles import known_roles, read_models


def test_the_nearest_name_decides() -> None:
    """A role before its group, the group before `verdict`, and that before the default."""
    text = '{"planner": "p", "judge": "j", "reviewer": "r", "risk": "k"}'
    models = read_models(text, "d", "v")
    assert models.of("planner", verdict=False) == "p"
    assert models.of("coder", verdict=False) == "d"
    assert models.of("judge", verdict=True) == "j"
    assert models.of("completeness", verdict=True) == "r"
    assert models.of("risk", verdict=True) == "k"
    assert models.of("rank", verdict=True) == "v"
    assert read_models('{"verdict": "w"}', "d", "v").of("rank", verdict=True) == "w"
    assert read_models("", "d").of("rank", verdict=True) == "d"


def test_every_model_is_listed_with_its_roles() -> None:
    """What has to have a price, and what the doctor shows."""
    models = read_models('{"planner": "p", "coder": "d", "judge": "p"}', "d", "v").models()
    assert models == {"d": ("default", "coder"), "p": ("judge", "planner"), "v": ("verdict",)}


def test_roles_are_the_prompts_that_begin_a_conversation() -> None:
    """Agents and verdicts are roles, notes that are appended to a conversation are not."""
    assert {PLANNER.name, CODER.name, "setup", "judge", "rank", "verdict"} <= known_roles()
    assert not {"coder_plan", "planner_guide", "planner_again"} & known_roles()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"plannr": "m"}', "names 'plannr', which is no role. The roles are: .*planner"),
        ("{", "must be JSON like"),
        ("[]", "must be JSON like"),
        ('{"planner": ""}', "a name for every role"),
        ('{"planner": 3}', "a name for every role"),
    ],
)
def test_what_names_no_role_is_refused(text: str, said: str) -> None:
    """A spelling mistake must not send a role to the default in silence."""
    with pytest.raises(RoleUnknown, match=said):
        read_models(text, "d")
