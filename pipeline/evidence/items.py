"""Names of what verification keeps in the journal, so that a larger pool runs only what is new.

`verify/reproduction:…`, `verify/test:…`, `verify/near:…`, `verify/suite:…`, `verify/part:…` go by
what is run and not by who wrote it; `verify/<id>` is a candidate's evidence. A name has at most 64
characters.
"""

import json
from collections.abc import Collection
from hashlib import sha256

from pipeline.items import step
from pipeline.jsonable import to_json
from pipeline.services import Journal
from pipeline.values import Evidence, Reproduction


def reproduction_item(reproduction: Reproduction) -> str:
    """One for each text: a larger pool does not change what it is called, or whose it is."""
    return f"reproduction:{_text(reproduction)}"


def cross_item(program: str, reproduction: Reproduction) -> str:
    """One reproduction on one program (see `pipeline.evidence.same`)."""
    return f"test:{program}:{_text(reproduction)}"


def part_item(edits: Collection[str]) -> str:
    """The part of the suite that is near to what a pool edits."""
    return f"part:{_digest(json.dumps(sorted(edits)))}"


async def keep_evidence(journal: Journal, evidence: Evidence) -> None:
    """Write down a candidate's evidence, which replays read: the last one that was kept counts.

    `verify/<id>` the first time. A finished item never changes, so what a larger pool adds goes
    into one of its own, `verify/<id>:<digest>`.
    """

    async def work(attempt: int) -> Evidence:
        return evidence

    kept = await step(journal, "verify", evidence.candidate, Evidence, work)
    if kept != evidence:
        digest = _digest(json.dumps(to_json(evidence), sort_keys=True))
        await step(journal, "verify", f"{evidence.candidate}:{digest}", Evidence, work)


def _text(reproduction: Reproduction) -> str:
    return _digest(reproduction.text.strip())


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:20]
