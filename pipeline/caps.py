"""What a run may use besides its money: tokens, and shares of the money for stages and roles."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import get_args

from pipeline.errors import BudgetExhausted, ItemShareUsed, RoleUnknown
from pipeline.model.roles import known_roles
from pipeline.services import PipelineStage

_CENT_FRACTION = 1e-9  # sums of floats: never refuse a call for the last bit


@dataclass(frozen=True, slots=True)
class Caps:
    """`tokens` in and out together, 0 for no limit. `shares` of the money by stage or role.

    `item_share` of the money is for any one item: who has used it makes no further call. Worst
    cases do not count against it, or a small budget would let nobody begin.
    """

    tokens: int = 0
    shares: Mapping[str, float] = field(default_factory=dict)
    item_share: float = 1.0


@dataclass(frozen=True, slots=True)
class Amount:
    """Money and tokens of calls of one role in one stage, settled or reserved.

    `item` is the `stage/item` they were made for, "" where that makes no difference.
    """

    stage: str
    role: str
    usd: float
    tokens: int = 0
    item: str = ""


def require_room(limit_usd: float, caps: Caps, committed: Iterable[Amount], wanted: Amount) -> None:
    """Raise BudgetExhausted unless what is wanted fits beside what is committed.

    ItemShareUsed when only the item that wants it has had its share.
    """
    rows = list(committed)
    spent = sum(row.usd for row in rows)
    if spent + wanted.usd > limit_usd + _CENT_FRACTION:
        raise BudgetExhausted(limit_usd, spent)
    tokens = sum(row.tokens for row in rows)
    if caps.tokens and tokens + wanted.tokens > caps.tokens:
        raise BudgetExhausted(
            limit_usd, spent, f"The {caps.tokens} tokens of the run are used up ({tokens} spent)."
        )
    for name in {wanted.stage, wanted.role} & set(caps.shares):
        share_usd = caps.shares[name] * limit_usd
        used = sum(row.usd for row in rows if name in {row.stage, row.role})
        if used + wanted.usd > share_usd + _CENT_FRACTION:
            raise BudgetExhausted(
                share_usd,
                used,
                f"The share of {name} in the budget, ${share_usd:.2f}, is used up "
                f"(${used:.2f} spent).",
            )

    share_usd = caps.item_share * limit_usd
    used = sum(row.usd for row in rows if row.item == wanted.item)
    if caps.item_share < 1 and wanted.item and used >= share_usd:
        raise ItemShareUsed(
            share_usd,
            used,
            f"Its share of the budget, ${share_usd:.2f}, is used up (${used:.2f} spent).",
        )


def read_shares(text: str) -> dict[str, float]:
    """From PRISM_SHARES: JSON {stage or role: share above 0, at most 1}, "" is none.

    Raises RoleUnknown with the expected form or the names there are.
    """
    form = 'PRISM_SHARES must be JSON like {"code": 0.6, "judge": 0.1}: shares of the budget'
    try:
        data = json.loads(text or "{}")
        shares = {name: float(share) for name, share in data.items()}
    except (ValueError, TypeError, AttributeError):
        raise RoleUnknown(f"{form}.") from None
    if not all(0 < share <= 1 for share in shares.values()):
        raise RoleUnknown(f"{form}, above 0 and at most 1.")
    stages = set(get_args(PipelineStage))
    names = sorted(stages | known_roles())
    if unknown := sorted(set(shares) - set(names)):
        raise RoleUnknown(
            f"PRISM_SHARES names {', '.join(map(repr, unknown))}, which is neither a stage nor a "
            f"role. There are: {', '.join(names)}."
        )
    return shares
