"""The command `prism eval`; everything heavy is loaded once it runs."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from app.command import plain_errors, term_as_interrupt
from app.settings import read_settings


@click.command("eval")
@click.argument("instances", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--predictions",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("predictions.jsonl"),
    show_default=True,
    help="What the official harness reads; finished instances in it are not run again.",
)
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of journals and results (default: beside the predictions).",
)
@click.option(
    "--repos",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of bare mirrors, owner__name.git.",
)
@click.option("--fetch-from", "host", default="", help="Fetch others here: https://github.com")
@click.option("--name", "model_name", default="prism", show_default=True, help="The predictor.")
@click.option("--only", multiple=True, help="Only the instance of this id; may be repeated.")
@click.option("--budget", type=click.FloatRange(min=0, min_open=True), help="Dollars an instance.")
@click.option(
    "--total-budget",
    "total_usd",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    help="Dollars for all instances, those of earlier starts included.",
)
@click.option("--record", "recorded", is_flag=True, help="Keep calls and tool results, too.")
def evaluate(
    predictions: Path,
    state: Path | None,
    budget: float | None,
    total_usd: float | None,
    **rest: Any,
) -> None:
    """Run the recipe on each row of INSTANCES, a SWE-bench-style .jsonl or .jsonl.gz file.

    Of a row only instance_id, repo, base_commit and problem_statement are read. Start again with
    the same files to go on after an interruption. Ends with 0 when every row has its prediction,
    with 1 when some could not be run, and says which.
    """
    with plain_errors(), term_as_interrupt():
        from app.evaluate.run import Evaluation, run_evaluation  # noqa: PLC0415 - loads the pipeline
        from app.logs import configure_logs  # noqa: PLC0415

        settings = read_settings()
        if budget is not None:
            settings = replace(settings, budget_usd=budget)
        configure_logs(replace(settings, log_level="warning", log_format="pretty"))
        state = state or predictions.with_name(f"{predictions.name}.state")
        wanted = Evaluation(
            predictions=predictions, state=state, total_usd=total_usd or 0.0, **rest
        )
        sys.exit(run_evaluation(settings, wanted))
