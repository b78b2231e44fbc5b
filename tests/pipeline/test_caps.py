"""Money, tokens and shares: what is committed and wanted together fits, or the call is not made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.caps import Amount, Caps, read_shares, require_room
from pipeline.errors import BudgetExhausted, ItemShareUsed, RoleUnknown

AMOUNTS = st.builds(
    Amount,
    st.sampled_from(["global", "code", "verify"]),
    st.sampled_from(["planner", "coder", "judge"]),
    st.floats(0, 2),
    st.integers(0, 1000),
    st.sampled_from(["global/G1", "code/G1", "code/G2"]),
)
CAPS = Caps(3000, {"code": 0.5, "judge": 0.1, "planner": 0.4}, 0.3)


@given(st.lists(AMOUNTS, max_size=30))
def test_what_was_let_in_never_exceeds_any_cap(wanted: list[Amount]) -> None:
    """However calls come, the sums of those that fit stay within every limit."""
    let_in: list[Amount] = []
    for amount in wanted:
        try:
            require_room(5.0, CAPS, let_in, amount)
        except BudgetExhausted:
            continue
        let_in.append(amount)
    assert sum(each.usd for each in let_in) <= 5.0 + 1e-6
    assert sum(each.tokens for each in let_in) <= 3000
    for name, share in CAPS.shares.items():
        part = sum(each.usd for each in let_in if name in {each.stage, each.role})
        assert part <= share * 5.0 + 1e-6
    for item in {each.item for each in let_in}:
        its = [each.usd for each in let_in if each.item == item]
        assert sum(its[:-1]) < 0.3 * 5.0


def test_each_limit_says_which_it_is() -> None:
    """The run's money, its tokens, or the share of a stage or a role."""
    with pytest.raises(BudgetExhausted, match=r"budget of \$5\.00"):
        require_room(5.0, Caps(), [Amount("code", "coder", 4.0)], Amount("code", "coder", 1.1))
    with pytest.raises(BudgetExhausted, match="100 tokens"):
        require_room(5.0, Caps(100), [Amount("code", "coder", 0, 90)], Amount("code", "", 0, 11))
    shares = Caps(shares={"code": 0.5, "judge": 0.1})
    with pytest.raises(BudgetExhausted, match=r"share of code in the budget, \$2\.50"):
        require_room(5.0, shares, [Amount("code", "coder", 2.0)], Amount("code", "coder", 0.6))
    with pytest.raises(BudgetExhausted, match="share of judge"):
        require_room(5.0, shares, [], Amount("synthesis", "judge", 0.6))


def test_one_item_has_its_share_and_leaves_the_rest() -> None:
    """What others spent does not count, and the error tells that only this item ends."""
    committed = [Amount("code", "coder", 1.6, item="code/G1"), Amount("code", "coder", 2.0)]
    wanted = Amount("code", "coder", 0.6, item="code/G1")
    with pytest.raises(ItemShareUsed, match=r"share of the budget, \$1\.50, .* \(\$1\.60 spent"):
        require_room(5.0, Caps(item_share=0.3), committed, wanted)
    require_room(5.0, Caps(item_share=0.3), committed, Amount("code", "coder", 0.6, item="code/G2"))
    require_room(5.0, Caps(), committed, wanted)
    require_room(0.7, Caps(item_share=0.3), [], wanted)  # a small budget lets everybody begin


@pytest.mark.parametrize("text", ["[]", "{", '{"code": "x"}', '{"code": 0}', '{"code": 1.5}', "3"])
def test_unreadable_shares_are_refused(text: str) -> None:
    """The message shows the form."""
    with pytest.raises(RoleUnknown, match="must be JSON like"):
        read_shares(text)


def test_a_share_of_nothing_known_is_refused() -> None:
    """Stages and roles are named; both kinds are taken."""
    assert read_shares('{"code": 0.5, "judge": 0.1, "reviewer": 1}')["judge"] == 0.1
    assert read_shares("") == {}
    with pytest.raises(RoleUnknown, match="'codes', which is neither a stage nor a role"):
        read_shares('{"codes": 0.5}')
