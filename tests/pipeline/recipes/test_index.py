"""The recipe with a real index: agents search it, and what it answers is what they go on with."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.github.source import MirrorSource
from app.index.background import run_index
from pipeline.services import Json, RecordKind, RunConfig
from tests import small
from tests.played import play

SEARCHED = {
    "planner": {
        *("find_file", "find_code_content", "find_code_def", "find_child_unit"),
        *("neighbours", "preview", "finish_search"),
    },
    "coder": {"find_child_unit", "neighbours"},
}
CONFIG = RunConfig(effort="lean", n_global=2, n_local=1, n_synthesis=2)


@dataclass
class Kept:
    """A Recorder that keeps everything: (address, data) by kind."""

    tools: list[tuple[str, Json]] = field(default_factory=list)
    calls: list[tuple[str, Json]] = field(default_factory=list)

    async def record(self, kind: RecordKind, address: str, attempt: int, data: Json) -> None:
        """Keep it."""
        if kind in {"tool", "call"}:
            kept = self.tools if kind == "tool" else self.calls
            kept.append((address, json.loads(json.dumps(data))))

    def told(self, prefix: str) -> str:
        """Everything that calls of these addresses sent to the model, in order."""
        texts = [text for at, data in self.calls if at.startswith(prefix) for text in _texts(data)]
        return "\n".join(texts)


def _texts(data: Json) -> list[str]:
    found: list[str] = []
    for message in data["messages"]:
        content = message["content"]
        for block in [{"text": content}] if isinstance(content, str) else content:
            inner = block.get("content", block.get("text", ""))
            found += [inner] if isinstance(inner, str) else [each["text"] for each in inner]
    return found


@pytest.fixture
async def kept(source: MirrorSource, environments: Path, tmp_path: Path) -> Kept:
    """What was said in a run whose index was built beside it."""
    recorder = Kept()
    async with run_index(tmp_path, source) as index:
        ran = await play(
            *(source, environments, small.script(), tmp_path / "run.jsonl"),
            config=CONFIG,
            index=index,
            recorder=recorder,
        )
    assert ran.decision.outcome == "patch"
    return recorder


async def test_agents_search_the_index_and_decide_by_it(kept: Kept) -> None:
    """Every search is answered, each answer is in what the model is sent next, and what
    finish_search gave is what plan and coder speak of."""
    for agents, role in ((("global/", "local/"), "planner"), (("code/",), "coder")):
        used = {data["name"] for at, data in kept.tools if at.startswith(agents)}
        assert SEARCHED[role] <= used, role
    failed = [(at, data) for at, data in kept.tools if data["is_error"]]
    assert failed == []
    for address, data in kept.tools:
        agent = address.rpartition("/")[0]
        if data["name"] not in {"submit_plan", "submit"}:
            assert data["observation"] in kept.told(f"{agent}/"), (address, data["name"])

    chosen = [data for at, data in kept.tools if data["name"] == "finish_search"]
    assert len(chosen) == 4  # of two explanations, and of a branch of each
    for data in chosen:
        assert data["input"]["units"] == ["calc.py:double"]
        assert data["observation"].startswith("function calc.py:double (lines 4–5)")
        assert "return x" in data["observation"]
    start = kept.calls[[at for at, _ in kept.calls].index("global/G1/0")][1]
    assert "calc.py:double" in "\n".join(_texts(start)).partition("<places>")[2]
    (coder,) = (data for at, data in kept.calls if at == "code/S1/0")
    assert "calc.py:4–5 double" in "\n".join(_texts(coder))
    assert "     4\tdef double(x):" in "\n".join(_texts(coder))
