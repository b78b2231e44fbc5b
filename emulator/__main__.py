"""`python -m emulator github|model|scenario`: run a stand-in as a process, on loopback."""

from pathlib import Path

import click

from emulator.github.cli import github
from emulator.scenarios.cli import scenario
from emulator.serving import listen, serve, tell, url_of


@click.group()
def main() -> None:
    """Stand-ins for GitHub and the model API, for the demo, tests and benchmarks."""


@main.command()
@click.option("--script", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--port", default=0, help="0 takes a free port.")
@click.option("--ready", type=click.Path(path_type=Path), help="Written with the address.")
@click.option("--delay", default=0.0, help="Seconds before each answer.")
def model(script: Path, port: int, ready: Path | None, delay: float) -> None:
    """Play a script, or what `prism fix --record` wrote, as an Anthropic Messages endpoint."""
    from emulator.model.recorded import load_any  # noqa: PLC0415 - the other does not need it
    from emulator.model.server import create_app  # noqa: PLC0415

    listener = listen(port)
    if ready is not None:
        tell(ready, url_of(listener))
    serve(create_app(load_any(script), delay), listener)


main.add_command(github)
main.add_command(scenario)

if __name__ == "__main__":
    main()
