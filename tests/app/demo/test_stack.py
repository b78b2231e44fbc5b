"""What the demo's processes are told."""

from pathlib import Path

from app.demo.processes import Processes
from app.demo.stack import _model
from app.settings import read_settings

LIVE = {
    "ANTHROPIC_API_KEY": "key",
    "ANTHROPIC_BASE_URL": "https://models.example.org",
    "PRISM_MODEL": "claude-opus-4-6",
    "PRISM_VERDICT_MODEL": "claude-haiku-4-5",
    "PRISM_MODELS": '{"coder": "claude-sonnet-4-6"}',
    "PRISM_FALLBACK_MODEL": "claude-sonnet-4-5",
    "PRISM_CALLS_PER_MINUTE": "30.5",
    "PRISM_PRICES": '{"m": [1, 2]}',
    "PRISM_BUDGET_USD": "1.5",
    "PRISM_TOKENS": "100000",
    "PRISM_SHARES": '{"code": 0.5}',
}


def test_a_live_demo_keeps_to_what_the_operator_set(tmp_path: Path) -> None:
    """Its worker asks the same models, as fast and for as much, whether that is set or not."""
    for environ in (LIVE, {}):
        live = read_settings(environ)
        told = _model(live, Processes(tmp_path), tmp_path, tmp_path)
        assert read_settings(told) == live
