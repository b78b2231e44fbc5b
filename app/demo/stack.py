"""The demo's processes: emulators, web, worker. Settings reach them by environment alone."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from app.demo.hub import REPOSITORY, Hub
from app.demo.processes import DemoFailed, Processes, child_environment
from app.jobs.embedded import free_port
from app.settings import Settings, read_settings

CHECKOUT = Path(__file__).parents[2]
KEY = "scripted-model-key"


@dataclass(frozen=True, slots=True)
class Stack:
    """A running demo."""

    hub: Hub
    settings: Settings


def start_stack(processes: Processes, work: Path, sandbox: str, live: Settings | None) -> Stack:
    """Start everything in order; `live` holds the real model's settings, None plays the script.

    Returns once the web process is ready and the worker has started. Raises DemoFailed.
    """
    if not (CHECKOUT / "emulator").is_dir():
        raise DemoFailed("The demo runs from a checkout of Prism: the emulators are not installed.")
    scenario = _scenario(work)
    model = _model(live, processes, scenario, work)
    port = free_port()
    hub = _github(processes, scenario, work, port)
    environ = {
        "APP_ID": str(hub.facts["app_id"]),
        "PRIVATE_KEY_PATH": hub.facts["private_key_path"],
        "WEBHOOK_SECRET": hub.facts["webhook_secret"],
        "GHE_HOST": hub.facts["url"].partition("://")[2],
        "GHE_PROTOCOL": "http",
        "PORT": str(port),
        "PRISM_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "PRISM_DATA_DIR": str(work / "data"),
        "PRISM_SANDBOX": sandbox,
        "LOG_FORMAT": "pretty",
        **model,
    }
    for name in ("serve", "worker"):
        argv = [sys.executable, "-m", "app.cli", name]
        processes.start(name, argv, child_environment(environ))
        if name == "serve":
            processes.wait_for_port(port)
    return Stack(hub, read_settings(environ))


def _scenario(work: Path) -> Path:
    folder = work / "scenario"
    cache = Path(click.get_app_dir("prism")) / "cache"
    argv = [sys.executable, "-m", "emulator", "scenario", REPOSITORY]
    argv += ["--dir", str(folder), "--cache", str(cache)]
    made = subprocess.run(argv, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise DemoFailed(f"The example project could not be fetched.\n{made.stderr[-2000:]}")
    return folder


def _model(
    live: Settings | None, processes: Processes, scenario: Path, work: Path
) -> dict[str, str]:
    if live is not None:
        return {
            "ANTHROPIC_API_KEY": live.anthropic_api_key,
            "ANTHROPIC_BASE_URL": live.anthropic_base_url,
            "PRISM_MODEL": live.model,
            "PRISM_VERDICT_MODEL": live.verdict_model,
            "PRISM_MODELS": live.models,
            "PRISM_FALLBACK_MODEL": live.fallback_model,
            "PRISM_CALLS_PER_MINUTE": str(live.calls_per_minute),
            "PRISM_PRICES": live.prices,
            "PRISM_TOKENS": str(live.tokens),
            "PRISM_SHARES": live.shares,
            "PRISM_BUDGET_USD": str(live.budget_usd),
        }
    ready = work / "model.ready"
    script = ["--script", str(scenario / "script.json"), "--ready", str(ready)]
    _emulator(processes, "model", *script)
    return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": processes.wait_for_file(ready)}


def _github(processes: Processes, scenario: Path, work: Path, port: int) -> Hub:
    ready = work / "github.ready"
    _emulator(
        processes,
        "github",
        *("--data", str(work / "github"), "--ready", str(ready)),
        *("--app-manifest", str(CHECKOUT / "app.yml")),
        *("--repo", f"{REPOSITORY}={scenario / 'repository'}"),
        *("--issue", str(scenario / "issue.md")),
        *("--webhook", f"http://127.0.0.1:{port}/api/github/webhooks"),
    )
    return Hub(json.loads(processes.wait_for_file(ready)))


def _emulator(processes: Processes, name: str, *arguments: str) -> None:
    environ = child_environment({"PYTHONPATH": str(CHECKOUT)})
    processes.start(name, [sys.executable, "-m", "emulator", name, *arguments], environ)
