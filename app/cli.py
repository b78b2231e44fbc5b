"""The command line: `prism demo | serve | worker | fix | eval | replay | outcomes | env | index
| doctor`.

Imports stay inside the commands: the web process must not load what only the worker needs.
"""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import click

from app.command import plain_errors, term_as_interrupt
from app.evaluate.command import evaluate
from app.settings import read_settings


@click.group()
@click.version_option(package_name="prism")
def main() -> None:
    """Prism explores several different repairs of an issue, verifies each, votes, opens one PR."""


@main.command()
def serve() -> None:
    """Run the web process: receives deliveries, answers 202, wakes the worker."""
    with plain_errors():
        from app.web import serve as run

        run(read_settings())


@main.command()
def worker() -> None:
    """Run the worker: admits deliveries and carries out runs. Needs a container engine."""
    with plain_errors():
        from app.worker import run_worker_process

        run_worker_process(read_settings())


@main.command()
@click.option(
    "--repo", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True
)
@click.option(
    "--issue", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True
)
@click.option("--commit", default="HEAD", show_default=True, help="What to repair.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write the patch here (default: screen)."
)
@click.option("--report", type=click.Path(path_type=Path), help="Write the full report here.")
@click.option(
    "--journal", type=click.Path(path_type=Path), help="Resume from this JSON-lines file."
)
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    help="A journal that keeps all model calls and tool results, too.",
)
def fix(
    repo: Path,
    issue: Path,
    commit: str,
    out: Path | None,
    report: Path | None,
    journal: Path | None,
    record: Path | None,
) -> None:
    """Repair one issue of a local git repository; GitHub is not involved.

    The issue is a text file whose first line is the title. Ends with 0 when a patch was chosen,
    with 3 when none deserved it.
    """
    with plain_errors(), term_as_interrupt():
        from app.fix import fix_local
        from app.logs import configure_logs

        settings = read_settings()
        # Standard output is the patch: what is logged goes beside it, and only when it matters.
        configure_logs(replace(settings, log_level="warning", log_format="pretty"))
        sys.exit(fix_local(settings, repo, issue, commit, out, report, journal, record))


@main.command()
@click.argument("run")
@click.option(
    "--export", type=click.Path(path_type=Path), help="Write the run as a journal file, too."
)
@click.option(
    "--picture", type=click.Path(path_type=Path), help="Draw the exploration as SVG, too."
)
def replay(run: str, export: Path | None, picture: Path | None) -> None:
    """Decide RUN again from its journal, without model and containers, and compare.

    RUN is a file that `prism fix` wrote (--journal or --record) or a run's id in the ledger. Ends
    with 0 when the winner is the recorded one, with 1 when it is not, and with 2 when the run has
    no decision or cannot be read.
    """
    with plain_errors():
        from app.replay import replay_run

        sys.exit(replay_run(read_settings(), run, export, picture))


@main.command()
@click.option("--json", "as_json", is_flag=True, help="For programs: one JSON object.")
def outcomes(as_json: bool) -> None:
    """Print what people made of the pull requests, and whether confidence is calibrated on it.

    One part for each installation: merged as they were, merged after changes, closed, still open;
    how often each band of confidence was merged as it was.
    """
    with plain_errors():
        from app.outcomes import show_outcomes

        sys.exit(asyncio.run(show_outcomes(read_settings(), as_json=as_json)))


@main.command()
@click.option("--attacks", is_flag=True, help="Also try every known attack on the sandbox.")
def doctor(attacks: bool) -> None:
    """Check every part and say what to do about each; say what the sandbox does not protect from.

    Ends with 0 when all parts work.
    """
    with plain_errors(), term_as_interrupt():
        from app.doctor import run_doctor

        sys.exit(run_doctor(read_settings(), attacks))


@main.command()
@click.option("--once", is_flag=True, help="End when the pull request is open.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the result here.")
@click.option(
    "--live", is_flag=True, envvar="LIVE", help="Use the real model of ANTHROPIC_API_KEY."
)
@click.option("--work", type=click.Path(path_type=Path), help="Keep everything below this folder.")
def demo(once: bool, json_file: Path | None, live: bool, work: Path | None) -> None:
    """Show the whole product on this machine: a real bug, an emulated GitHub, a scripted model."""
    with plain_errors(), term_as_interrupt():
        from app.demo.run import run_demo

        sys.exit(run_demo(once=once, json_file=json_file, live=live, work=work))


@main.group()
def env() -> None:
    """How repositories are set up and tested, and what is stored of it."""


@env.command()
@click.argument("repository")
@click.option("--commit", default="", help="Which commit (default: the newest).")
@click.option("--yaml", "as_yaml", is_flag=True, help="Only the .github/prism.yml that pins it.")
def show(repository: str, commit: str, as_yaml: bool) -> None:
    """Print the plan for REPOSITORY, a folder or the owner/name of an installed repository.

    Nothing of the repository is executed.
    """
    with plain_errors(), term_as_interrupt():
        from app.environment import commands

        sys.exit(asyncio.run(commands.show(read_settings(), repository, commit, as_yaml=as_yaml)))


@env.command()
@click.argument("repository")
@click.option("--commit", default="", help="Which commit (default: the newest).")
def build(repository: str, commit: str) -> None:
    """Prepare the environment of REPOSITORY now.

    Ends with 0 when tests run in it, with 1 when the set-up fails, with 3 when it works and no
    test gives a verdict.
    """
    with plain_errors(), term_as_interrupt():
        from app.environment import commands

        sys.exit(asyncio.run(commands.build(read_settings(), repository, commit)))


@env.command("list")
def list_() -> None:
    """Print the stored environments, most recently used first."""
    with plain_errors():
        from app.environment import commands

        sys.exit(asyncio.run(commands.list_stored(read_settings())))


@env.command()
@click.option("--max-gb", type=click.FloatRange(min=0), help="Instead of PRISM_ENV_MAX_GB.")
@click.option("--max-days", type=click.FloatRange(min=0), help="Instead of PRISM_ENV_MAX_DAYS.")
def prune(max_gb: float | None, max_days: float | None) -> None:
    """Remove stored environments not used for --max-days, and more until --max-gb hold the rest.

    The worker does the same by itself. Nothing that is in use or was used within the last hour
    is removed.
    """
    with plain_errors():
        from app.environment import commands

        sys.exit(asyncio.run(commands.prune(read_settings(), max_gb, max_days)))


@main.group()
def index() -> None:
    """The code index: where things are in a repository, without a model.

    REPOSITORY is a folder or the owner/name of an installed repository. What is not indexed yet
    is indexed first. Nothing of the repository is executed.
    """


@index.command("build")
@click.argument("repository")
@click.option("--commit", default="", help="Which commit (default: the newest).")
def index_build(repository: str, commit: str) -> None:
    """Index a commit now; only what no earlier commit brought is parsed."""
    with plain_errors(), term_as_interrupt():
        from app.index import commands

        sys.exit(asyncio.run(commands.build(read_settings(), repository, commit)))


@index.command("stats")
@click.argument("repository")
@click.option("--commit", default="", help="Which commit (default: the newest).")
def index_stats(repository: str, commit: str) -> None:
    """Print languages, definitions, and what could not be parsed."""
    with plain_errors(), term_as_interrupt():
        from app.index import commands

        sys.exit(asyncio.run(commands.stats(read_settings(), repository, commit)))


@index.command("search")
@click.argument("repository")
@click.argument("query")
@click.option("--commit", default="", help="Which commit (default: the newest).")
@click.option("--tests", is_flag=True, help="Test code too.")
def index_search(repository: str, query: str, commit: str, tests: bool) -> None:
    """Print the files, definitions and pieces of code that fit QUERY.

    QUERY is a name, the end of a path, a regular expression or a piece of code. Ends with 1 when
    nothing fits.
    """
    with plain_errors(), term_as_interrupt():
        from app.index import commands

        asked = commands.search(read_settings(), repository, commit, query, tests=tests)
        sys.exit(asyncio.run(asked))


@index.command("rank")
@click.argument("repository")
@click.option("--commit", default="", help="Which commit (default: the newest).")
@click.option(
    "--issue",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The issue's text, its first line the title (default: standard input).",
)
@click.option("--top", default=10, show_default=True, type=click.IntRange(1, 100))
def index_rank(repository: str, commit: str, issue: Path | None, top: int) -> None:
    """Print the files and functions that an issue most likely needs changed, and why.

    Ends with 1 when the commit has no source file of a known language.
    """
    with plain_errors(), term_as_interrupt():
        from app.index import commands

        sys.exit(asyncio.run(commands.rank(read_settings(), repository, commit, issue, top)))


main.add_command(evaluate)

if __name__ == "__main__":
    main()
