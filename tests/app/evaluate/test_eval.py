"""`prism eval` as a user types it: rows in, predictions out, killed and started again."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.demo.processes import child_environment
from emulator.model.server import create_app
from emulator.serving import serving
from pipeline.journal import read_events
from tests import small

FIRST, SECOND = "acme__calc-1", "acme__calc-2"


@dataclass(frozen=True)
class Bench:
    """A folder of mirrors, a file of instances and a model."""

    folder: Path
    commit: str
    model_url: str
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def predictions(self) -> Path:
        """What the harness would read."""
        return self.folder / "predictions.jsonl"

    def row(self, name: str, **changes: Any) -> dict[str, Any]:
        """A row as published files have it."""
        secret = "SECRET of the solution"
        return {
            "instance_id": name,
            "repo": "acme/calc",
            "base_commit": self.commit,
            "problem_statement": f"{small.TITLE}\n\n{small.BODY} ({name})",
            "hints_text": secret,
            "patch": secret,
            "test_patch": secret,
            **changes,
        }

    def start(self, rows: list[dict[str, Any]], *arguments: str) -> "subprocess.Popen[str]":
        """Begin `prism eval` on rows."""
        instances = self.folder / "instances.jsonl"
        instances.write_text("".join(json.dumps(row) + "\n" for row in rows))
        settings = {
            "ANTHROPIC_API_KEY": "sk-key-of-the-test",
            "ANTHROPIC_BASE_URL": self.model_url,
            "PRISM_DATA_DIR": str(self.folder / "data"),
            "PRISM_SANDBOX": "process",
            "PRISM_EFFORT": "lean",
        }
        argv = [sys.executable, "-m", "app.cli", "eval", str(instances)]
        argv += ["--predictions", str(self.predictions), "--repos", str(self.folder / "repos")]
        return subprocess.Popen(
            [*argv, *arguments],
            env=child_environment(settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def calls(self) -> list[str]:
        """Addresses of the model calls so far."""
        found = httpx.get(f"{self.model_url}/_emulator/calls").json()
        return [each["address"] for each in found]

    def order(self, what: str, **data: Any) -> None:
        """Steer the model."""
        httpx.post(f"{self.model_url}/_emulator/{what}", json=data).raise_for_status()

    def predicted(self) -> list[dict[str, Any]]:
        """The rows of the predictions."""
        text = self.predictions.read_text() if self.predictions.exists() else ""
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """The small repository as a bare mirror, and the script that repairs it."""
    tree = small.write_files(tmp_path / "tree")
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        subprocess.run(["git", *who, *command], cwd=tree, check=True)
    bare = tmp_path / "repos" / "acme__calc.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(tree), str(bare)], check=True)
    head = ["git", "-C", str(bare), "rev-parse", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    with serving(create_app(small.script())) as url:
        yield Bench(tmp_path, commit, url)


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Exit code and output."""
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


def test_an_instance_becomes_a_prediction(bench: Bench) -> None:
    """Half lines of an earlier start are mended, what it finished is skipped."""
    done = {"instance_id": FIRST, "model_name_or_path": "prism", "model_patch": ""}
    bench.predictions.write_text(json.dumps(done) + '\n{"instance_id": "half')
    code, output = ended(bench.start([bench.row(FIRST), bench.row(SECOND)], "--record"))
    assert code == 0, output
    assert "1 of 2 instances are finished already." in output
    assert ": 3 of 3 agree in 1 groups" in output
    assert "2 predictions, 1 with a patch" in output
    assert_harness_takes(bench)
    for path in bench.folder.rglob("*.jsonl"):
        text = path.read_text()
        assert path.name == "instances.jsonl" or "SECRET" not in text, path
        assert "sk-key-of-the-test" not in text, path


@pytest.mark.nightly
def test_killed_it_goes_on_where_it_was(bench: Bench) -> None:
    """Golden test 13 with a real kill: what was finished is neither run nor paid again."""
    rows = [bench.row(SECOND)]
    bench.order("hold", address="code/S2/1")
    killed = bench.start(rows, "--record")
    while "code/S2/1" not in bench.calls():
        assert killed.poll() is None, killed.communicate()[0]
        time.sleep(0.05)
    killed.kill()
    killed.communicate()
    bench.order("release", address="code/S2/1")
    journal = bench.folder / "predictions.jsonl.state" / "journals" / f"{SECOND}.jsonl"
    events = list(read_events(journal.read_text()))
    finished = {event["item"] for event in events if event["event"] == "finish"}
    before = len(bench.calls())
    code, output = ended(bench.start(rows, "--record"))
    assert code == 0, output
    assert "1 predictions, 1 with a patch" in output
    again = {address.rpartition("/")[0] for address in bench.calls()[before:]}
    assert {"global/G1", "local/L1.1", "synthesis/S1"} <= finished
    assert not again & finished


def assert_harness_takes(bench: Bench) -> None:
    """Three fields a row; the patch applies to the base and adds no test file."""
    first, row = bench.predicted()
    assert [first["instance_id"], row["instance_id"]] == [FIRST, SECOND]
    assert set(row) == {"instance_id", "model_name_or_path", "model_patch"}
    assert row["model_name_or_path"] == "prism"
    tree = bench.folder / "tree"
    subprocess.run(
        ["git", "-C", str(tree), "apply", "-"], input=row["model_patch"], text=True, check=True
    )
    status = ["git", "-C", str(tree), "status", "--porcelain"]
    changed = subprocess.run(status, capture_output=True, text=True, check=True).stdout
    assert changed == " M calc.py\n"


def test_bad_rows_are_named_and_skipped(bench: Bench) -> None:
    """Unknown repositories and commits, missing fields: one sentence each and exit code 1."""
    rows = [
        bench.row("no-text", problem_statement=""),
        bench.row("no-commit", base_commit="b" * 40),
        bench.row("no-repo", repo="acme/other"),
    ]
    code, output = ended(bench.start(rows))
    assert code == 1, output
    assert "Not run: no-text: It has no text in problem_statement." in output
    assert f"has no commit `{'b' * 40}`" in output
    assert "There is no acme__other.git in" in output
    assert "Traceback" not in output


def test_the_bound_of_all_instances_is_kept(bench: Bench) -> None:
    """None is begun that could cost more than what is left; unfinished ones count as well."""
    journal = bench.folder / "predictions.jsonl.state" / "journals" / f"{FIRST}.jsonl"
    journal.parent.mkdir(parents=True)
    usage = {"calls": 1, "cost_usd": 4.0}
    events: list[dict[str, Any]] = [
        {"event": "reserve", "handle": 1, "address": "global/G1/0", "usd": 4.0},
        {"event": "settle", "handle": 1, "usage": usage, "stop": "end_turn"},
    ]
    journal.write_text("".join(json.dumps(event) + "\n" for event in events))
    rows = [bench.row(SECOND)]
    code, output = ended(bench.start(rows, "--budget", "3", "--total-budget", "6.5"))
    assert code == 1, output
    assert "1 instances: what is left of $6.5 is less than one may cost ($3)." in output
    assert bench.calls() == []
    assert bench.predicted() == []
