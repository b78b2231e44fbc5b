"""`prism fix` as a user types it: a local repository and an issue in, a patch and a report out."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from app.demo.processes import child_environment
from emulator.model.script import load
from emulator.model.server import create_app
from emulator.scenarios.scenario import load as load_scenario
from emulator.serving import serving
from pipeline.journal import read_events
from pipeline.recording import recorded
from tests import small
from tests.images import remove_environments


@dataclass(frozen=True)
class Desk:
    """A repository, an issue and a model; `folder` takes everything that is written."""

    folder: Path
    repository: Path
    issue: Path
    model_url: str

    def fix(self, *arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
        """Run `prism fix` on the repository."""
        settings = {
            "ANTHROPIC_API_KEY": "key",
            "ANTHROPIC_BASE_URL": self.model_url,
            "PRISM_DATA_DIR": str(self.folder / "data"),
            **environ,
        }
        where = ["--repo", str(self.repository), "--issue", str(self.issue)]
        where += ["--journal", str(self.folder / "journal.jsonl")]
        return subprocess.run(
            [sys.executable, "-m", "app.cli", "fix", *where, *arguments],
            env=child_environment(settings),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self) -> int:
        """Model calls so far."""
        return len(httpx.get(f"{self.model_url}/_emulator/calls").json())


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """The small repository as a clone has it, with its issue beside it."""
    repository = small.write_files(tmp_path / "calc")
    git(repository, "init", "--quiet", "--initial-branch=main")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "Start")
    (tmp_path / "issue.md").write_text(f"# {small.TITLE}\n\n{small.BODY}\n")
    return repository


def git(where: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    ran = subprocess.run(
        ["git", "-C", str(where), *who, *arguments], capture_output=True, text=True, check=True
    )
    return ran.stdout


def applied(repository: Path, patch: Path, into: Path) -> dict[str, str]:
    """The files that differ from HEAD once git has applied a patch to a fresh clone."""
    git(repository.parent, "clone", "--quiet", str(repository), str(into))
    git(into, "apply", "--index", "--whitespace=nowarn", str(patch))
    names = git(into, "diff", "--cached", "--name-only").split()
    return {name: (into / name).read_text() for name in names}


@pytest.mark.engine
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "name",
    [
        "sqlparse",  # 65 s on two cores
        pytest.param("packaging", marks=pytest.mark.nightly),  # 115 s
        pytest.param("attrs", marks=pytest.mark.nightly),  # 130 s
    ],
)
def test_the_gold_patch_wins_among_wrong_ones(tmp_path: Path, name: str) -> None:
    """On a real project the largest group is wrong; the change that is chosen is the right one."""
    folder = tmp_path / name
    argv = [sys.executable, "-m", "emulator", "scenario", name, "--dir", str(folder)]
    subprocess.run(argv, check=True, capture_output=True)
    with serving(create_app(load(folder / "script.json"))) as model_url:
        desk = Desk(tmp_path, folder / "repository", folder / "issue.md", model_url)
        out, report = tmp_path / "out.patch", tmp_path / "report.json"
        ended = desk.fix("--out", str(out), "--report", str(report))
    remove_environments(tmp_path / "data")
    assert ended.returncode == 0, ended.stderr

    scenario = load_scenario(name)
    decision = json.loads(report.read_text())["decision"]
    ballot = decision["ballot"]
    assert decision["isolation"] == "container"
    assert ballot["winner"] in scenario.intended.winners
    passed = {gate["candidate"] for gate in ballot["gates"] if not gate["reasons"]}
    assert passed == {each.id for each in scenario.candidates} - scenario.intended.rejected.keys()
    largest = max(ballot["clusters"], key=lambda each: each["votes"])
    assert not largest["gated"]

    gold = tmp_path / "gold.patch"
    gold.write_text(scenario.candidate(ballot["winner"]).patch)
    wanted = applied(desk.repository, gold, tmp_path / "gold")
    got = applied(desk.repository, out, tmp_path / "got")
    assert {path: text for path, text in got.items() if path in wanted} == wanted
    assert all(path.startswith("tests/") for path in got.keys() - wanted.keys())


@pytest.fixture
def desk(tmp_path: Path, tiny: Path) -> Iterator[Desk]:
    """The small repository with the script in which half of the candidates are right."""
    with serving(create_app(small.script())) as model_url:
        yield Desk(tmp_path, tiny, tmp_path / "issue.md", model_url)


def test_a_local_repository_without_an_engine(desk: Desk) -> None:
    """The patch goes to the screen, the report says what was not isolated; HEAD stays as it was."""
    before = git(desk.repository, "status", "--porcelain", "--branch")
    report = desk.folder / "report.md"
    journal = desk.folder / "journal.jsonl"
    record = ["--record", str(journal)]
    ended = desk.fix("--report", str(report), *record, PRISM_SANDBOX="process")
    assert ended.returncode == 0, ended.stderr
    kept = [each for each in recorded(read_events(journal.read_text())) if each.kind == "call"]
    assert len(kept) == desk.calls()
    (desk.folder / "out.patch").write_text(ended.stdout)
    files = applied(desk.repository, desk.folder / "out.patch", desk.folder / "got")
    names: dict[str, object] = {}
    exec(files["calc.py"], names)
    assert (names["double"](21), names["half"](42)) == (42, 21)  # type: ignore[operator] # its text
    text = report.read_text()
    assert "**Not isolated:**" in text
    assert "### How it was chosen" in text
    assert git(desk.repository, "status", "--porcelain", "--branch") == before

    calls = desk.calls()
    again = desk.fix(PRISM_SANDBOX="process")
    assert again.stdout == ended.stdout
    assert desk.calls() == calls, "a journal that is complete needs no model"


def test_reasons_to_look_closely_are_on_the_screen(tmp_path: Path, tiny: Path) -> None:
    """A repair that starts a program waits for a person; screen and both reports say why."""
    held = small.FIXED + "\n\ndef shell():\n    import subprocess\n    subprocess.run(['true'])\n"
    changes = {name.replace(".", "_"): {"patch": small.patch(held)} for name in small.NAMES}
    for report in (tmp_path / "report.md", tmp_path / "report.json"):
        with serving(create_app(small.script(**changes))) as model_url:
            desk = Desk(tmp_path, tiny, tmp_path / "issue.md", model_url)
            ended = desk.fix("--report", str(report), PRISM_SANDBOX="process")
        assert ended.returncode == 0, ended.stderr
        assert "Please look closely: calc.py: " in ended.stderr
    assert "> - calc.py: " in (tmp_path / "report.md").read_text()
    decision = json.loads((tmp_path / "report.json").read_text())["decision"]
    assert decision["evidence"][decision["ballot"]["winner"]]["policy"]["held"]


def test_nothing_that_passes_is_exit_code_3(tmp_path: Path, tiny: Path) -> None:
    """The findings go to the screen and into the report; no patch is written."""
    wrong: Mapping[str, object] = {"patch": small.patch(small.BREAKS_ZERO)}
    changes = {name.replace(".", "_"): dict(wrong) for name in small.NAMES}
    out, report = tmp_path / "out.patch", tmp_path / "report.json"
    with serving(create_app(small.script(**changes))) as model_url:
        desk = Desk(tmp_path, tiny, tmp_path / "issue.md", model_url)
        ended = desk.fix("--out", str(out), "--report", str(report), PRISM_SANDBOX="process")
    assert ended.returncode == 3, ended.stderr
    assert not out.exists()
    assert "No candidate deserved to be the patch" in ended.stderr
    decision = json.loads(report.read_text())["decision"]
    assert (decision["outcome"], decision["ballot"]["winner"]) == ("no_patch", None)


def test_a_failed_setup_shows_why(desk: Desk) -> None:
    """The end of the output stands before the sentence, without codes for the terminal."""
    config = desk.repository / ".github/prism.yml"
    config.parent.mkdir(exist_ok=True)
    config.write_text("env:\n  setup: ['seq 1000; printf \"\\\\033[2Jno such package\"; exit 1']\n")
    git(desk.repository, "add", "--all")
    git(desk.repository, "commit", "--quiet", "--message", "Set up")
    ended = desk.fix(PRISM_SANDBOX="process")
    assert ended.returncode == 2, ended.stderr
    lines = ended.stderr.splitlines()
    (said,) = (line for line in lines if line.startswith("Error: Set-up line"))
    assert "no such package" in lines[: lines.index(said)]
    assert "`env.untested: true`" in lines[-1]
    assert "\n1000\n" in ended.stderr
    assert "\n900\n" not in ended.stderr
    assert "\x1b" not in ended.stderr
    assert desk.calls() == 0


@pytest.mark.parametrize(
    ("arguments", "environ", "named"),
    [
        (["--repo", "/nonexistent"], {}, "'/nonexistent' does not exist"),
        (["--repo", "{folder}"], {}, "not in a git repository"),
        (["--issue", "/nonexistent"], {}, "'/nonexistent' does not exist"),
        (["--issue", "/dev/null"], {}, "first line"),
        (["--commit", "no-such-branch"], {}, "`no-such-branch`"),
        (["--out", "/nonexistent/x.patch"], {}, "/nonexistent/x.patch"),
        (["--report", "{folder}"], {}, "cannot be written"),
        (["--record", "{folder}/other.jsonl"], {}, "--record writes the journal, too"),
        ([], {"ANTHROPIC_API_KEY": ""}, "ANTHROPIC_API_KEY"),
        ([], {"PRISM_SANDBOX": "docker", "DOCKER_HOST": "unix:///nonexistent"}, "DOCKER_HOST"),
    ],
)
def test_what_cannot_work_is_told_at_once(
    desk: Desk, arguments: list[str], environ: dict[str, str], named: str
) -> None:
    """One sentence and exit code 2, before a model was asked; the last option counts."""
    (desk.folder / "empty").mkdir()
    folder = str(desk.folder / "empty")
    filled = [each.replace("{folder}", folder) for each in arguments]
    ended = desk.fix(*filled, **{"PRISM_SANDBOX": "process", **environ})
    assert ended.returncode == 2, ended.stderr
    assert named in ended.stderr
    assert "Traceback" not in ended.stderr
    assert desk.calls() == 0
