"""Outliving a command, ending the container, and holding the harness up."""

import asyncio
import time

from sandbox.attacks.base import Attack, Finding, Scene
from sandbox.base import Command

_COUNT = "ps -u 10001 -o args= | grep -c '[s]leep 54321' || true"


async def _left(scene: Scene) -> str:
    return (await scene.shell(_COUNT, timeout_s=30)).output.strip()


async def _escape(scene: Scene) -> Finding:
    line = (
        "setsid sleep 54321 & nohup sleep 54321 & (trap '' TERM HUP INT; sleep 54321) & "
        "sleep 54321 & kill -STOP $!; (setsid bash -c 'sleep 54321 & exec sleep 54321' &); "
        "env -i setsid sleep 54321 & sleep 54321"
    )
    start = time.monotonic()
    result = await scene.shell(line, timeout_s=0.5)
    late = time.monotonic() - start - 0.5
    left = await _left(scene)
    held = result.timed_out and result.exit_code is None and left == "0"
    return Finding(held, f"{left} left, ended {late * 1000:.0f} ms after the time limit")


async def _zombies(scene: Scene) -> Finding:
    await scene.shell("for i in {1..50}; do (setsid sleep 0.01 &); done; sleep 0.3")
    seen = await scene.shell("ps -e -o stat= | grep -c '^Z' || true")
    return Finding(seen.output.strip() == "0", f"{seen.output.strip()} zombies of 50 orphans")


async def _kill_container(scene: Scene) -> Finding:
    await scene.shell(
        "kill -9 1; kill -STOP 1; pkill -9 sleep; kill -9 $(pgrep -u 10002); kill -9 -1"
    )
    alive = await scene.shell("echo alive")
    return Finding(alive.output == "alive\n", "the container goes on")


async def _hold_output(scene: Scene) -> Finding:
    result = await scene.shell("sleep 54321 & (while sleep 0.01; do echo x; done) & exit 3")
    held = result.exit_code == 3 and result.duration_s < 2
    return Finding(held, f"ended after {result.duration_s:.2f} s with its own exit code")


async def _ignore_input(scene: Scene) -> Finding:
    big = Command("exit 4", stdin=bytes(8 << 20), timeout_s=20)
    result = await scene.workspace.exec(big)
    return Finding(result.exit_code == 4, f"8 MB unread, ended after {result.duration_s:.2f} s")


async def _neighbour(scene: Scene) -> Finding:
    slow = asyncio.create_task(scene.shell("sleep 1.5; echo done"))
    await scene.shell("setsid sleep 54321 & sleep 54321", timeout_s=0.4)
    result = await slow
    return Finding(result.output == "done\n", "only the late command was ended")


async def _others(scene: Scene) -> Finding:
    users = await scene.shell("ps -e -o uid= | sort -un | tr -s ' \\n' ' '; ps -e -o pid= | wc -l")
    uids, count = users.output.split()[:-1], users.output.split()[-1]
    held = set(uids) <= {"10001", "10002"} and int(count) < 20
    return Finding(held, f"sees {count} processes, all of this container")


async def _late_change(scene: Scene) -> Finding:
    bomb = "(while sleep 0.01; do echo late >> late.txt; done) >/dev/null 2>&1 &"
    await scene.shell(f"setsid bash -c '{bomb}'")
    first = await scene.workspace.diff()
    same = first == await scene.workspace.diff()
    await scene.shell("rm -f late.txt")
    return Finding(same, "ended before the patch is made; two patches are equal")


PROCESSES = (
    Attack(
        "escape", "processes",
        "outlive the time limit: setsid, nohup, ignored signals, stopped, orphaned, no environment",
        "ended by user id, then by restart", _escape, alone=True,
    ),
    Attack("zombies", "processes", "leave dead processes behind", "an init that reaps", _zombies),
    Attack(
        "kill-container", "processes", "kill -9 -1, kill process 1 and the container's own process",
        "the container's process has another user id", _kill_container,
    ),
    Attack(
        "hold-output", "processes", "a background process keeps the output open",
        "a command ends with its own process", _hold_output, alone=True,
    ),
    Attack("ignore-input", "processes", "never read the input", "sending stops with the process",
           _ignore_input),
    Attack(
        "neighbour", "processes", "have another command of the same workspace ended",
        "a mark per command while several run", _neighbour, alone=True,
    ),
    Attack("others", "processes", "see processes of others", "a process namespace of its own",
           _others),
    Attack(
        "late-change", "processes", "change files in the moment the patch is made",
        "all processes are ended first", _late_change,
    ),
)  # fmt: skip
