"""Start, watch and stop the demo's processes. Each has a log file of its own."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


class DemoFailed(RuntimeError):
    """A part of the demo did not come up or ended early; the message holds its log's end."""


class Processes:
    """Child processes by name; leaving the `with` block stops them in reverse order."""

    def __init__(self, log_dir: Path) -> None:
        self.log_dir = log_dir
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        log_dir.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        for name in reversed(list(self._children)):
            self.stop(name)

    def start(self, name: str, argv: Sequence[str], environ: Mapping[str, str]) -> int:
        """Start a child in a session of its own, so that Ctrl-C reaches only this process."""
        with (self.log_dir / f"{name}.log").open("ab") as log:
            child = subprocess.Popen(  # ended by stop()
                list(argv),
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._children[name] = child
        return child.pid

    def stop(self, name: str, grace_s: float = 20.0) -> None:
        """End a child politely, then for good."""
        child = self._children.pop(name)
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(grace_s)
            except subprocess.TimeoutExpired:
                child.kill()
        child.wait()

    def kill(self, name: str) -> None:
        """End a child without warning, as a crash would."""
        child = self._children.pop(name)
        child.kill()
        child.wait()

    def names(self) -> tuple[str, ...]:
        """The children that are still ours, in the order of their start."""
        return tuple(self._children)

    def check(self) -> None:
        """Raise DemoFailed when a child has ended."""
        for name, child in self._children.items():
            if child.poll() is not None:
                raise DemoFailed(
                    f"The {name} process ended with {child.returncode}.\n{self.tail(name)}"
                )

    def wait_for_file(self, path: Path, timeout_s: float = 60.0) -> str:
        """The text of a file a child writes once it is ready."""
        written = lambda: path.exists() and path.stat().st_size > 0  # noqa: E731 - one condition
        self._until(written, f"{path.name} was not written", timeout_s)
        return path.read_text(encoding="utf-8")

    def wait_for_port(self, port: int, timeout_s: float = 60.0) -> None:
        """Return once something on this machine listens on the port."""
        self._until(lambda: _listens(port), f"nothing listens on port {port}", timeout_s)

    def tail(self, name: str, lines: int = 15) -> str:
        """The end of a child's log."""
        text = (self.log_dir / f"{name}.log").read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def _until(self, ready: Callable[[], bool], failure: str, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while not ready():
            self.check()
            if time.monotonic() > deadline:
                raise DemoFailed(f"After {timeout_s:.0f} s {failure}; logs are in {self.log_dir}.")
            time.sleep(0.05)


def child_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without its own Prism, GitHub and model settings, plus `extra`."""
    ours = ("PRISM_", "ANTHROPIC_", "WEBHOOK_", "GHE_", "APP_ID", "PRIVATE_KEY", "DATABASE_URL")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    kept.pop("REDIS_URL", None)
    return {**kept, "PYTHONUNBUFFERED": "1", **extra}


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0
