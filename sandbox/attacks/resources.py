"""Using up memory, processes, processor, disk and the harness's own memory."""

import resource

from sandbox.attacks.base import Attack, Finding, Scene, first_line
from sandbox.base import Command, ExecResult
from sandbox.errors import SandboxError

MB = 1024 * 1024


async def _goes_on(scene: Scene) -> bool:
    return (await scene.shell("seq 3 | wc -l", timeout_s=30)).output.strip() == "3"


async def _memory(scene: Scene) -> Finding:
    result = await scene.shell("python3 -c 'x = bytearray(4 << 30)'; exit $?", timeout_s=30)
    held = result.out_of_memory and await _goes_on(scene)
    return Finding(held, f"ended for memory after {result.duration_s:.1f} s, next command works")


async def _tmp(scene: Scene) -> Finding:
    size = scene.limits.tmp_mb
    line = f"head -c {4 * size}M /dev/zero > /tmp/fill; stat -c %s /tmp/fill; rm -f /tmp/fill"
    result = await scene.shell(line)
    wrote = int(result.output.split()[-1])
    held = "No space left" in result.output and wrote <= size * MB
    return Finding(held, f"no space after {wrote // MB} MB")


async def _shared_memory(scene: Scene) -> Finding:
    line = (
        "for i in {1..9}; do head -c 20M /dev/zero > /dev/shm/f$i || break; done; "
        "du -sm /dev/shm | cut -f1; rm -f /dev/shm/f*"
    )
    result = await scene.shell(line)
    wrote = int(result.output.split()[-1])
    return Finding("No space left" in result.output and wrote <= 64, f"no space after {wrote} MB")


_MANY_NAMES = """
import os
os.mkdir("/tmp/many"); n = 0
try:
    for n in range(200000):
        os.close(os.open(f"/tmp/many/{n}", os.O_CREAT))
except OSError as error:
    print(n, error.strerror)
"""


async def _tmp_files(scene: Scene) -> Finding:
    answer = await scene.python(_MANY_NAMES, timeout_s=60)
    return Finding("No space left" in answer, f"refused at file {first_line(answer)}")


async def _fork_bomb(scene: Scene) -> Finding:
    bomb = "import os\nwhile 1:\n  try: os.fork()\n  except OSError: pass"
    result = await scene.shell(f"python3 -c '{bomb}'", timeout_s=1.5)
    left = await scene.shell("ps -u 10001 -o args= | grep -c '[o]s.fork' || true", timeout_s=30)
    held = result.timed_out and left.output.strip() == "0" and await _goes_on(scene)
    return Finding(held, f"ended at its time limit after {result.duration_s:.1f} s, 0 left")


_THREADS = """
import threading, time
n = 0
try:
    for n in range(5000):
        threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
except RuntimeError as error:
    print(n, error, flush=True)
import os; os._exit(0)
"""


async def _threads(scene: Scene) -> Finding:
    answer = await scene.python(_THREADS)
    count = int(answer.split()[0]) if answer[:1].isdigit() else 5000
    return Finding(count < scene.limits.pids, f"refused after {count} threads")


_SPIN = """
import os, resource, time
start = time.monotonic()
for _ in range(4):
    if not os.fork():
        while time.monotonic() - start < 1.5: pass
        os._exit(0)
for _ in range(4): os.wait()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, time.monotonic() - start)
"""


async def _cpu(scene: Scene) -> Finding:
    used, wall = map(float, (await scene.python(_SPIN)).split())
    share = used / wall
    return Finding(
        share < scene.limits.cpus * 1.2,
        f"four busy processes got {share:.2f} of a core, limit {scene.limits.cpus:g}",
    )


async def _open_files(scene: Scene) -> Finding:
    answer = await scene.python(
        "import os\nn = 0\ntry:\n  while 1: os.dup(0); n += 1\n"
        "except OSError as e: print(n, e.strerror)"
    )
    return Finding("Too many open files" in answer, f"refused after {first_line(answer)}")


async def _huge_file(scene: Scene) -> Finding:
    most = scene.limits.file_mb
    line = (
        f"head -c {most * 3}M /dev/zero > huge; echo code $?; truncate -s 1T huge; "
        "stat -c %s huge; rm -f huge"
    )
    result = await scene.shell(line, timeout_s=60)
    wrote = int(result.output.split()[-1])
    held = wrote <= most * MB and "code 0" not in result.output
    return Finding(held, f"ended at {wrote // MB} MB, also when sparse")


def _disk_words(result: ExecResult) -> str:
    return f"ended for the disk after {result.duration_s:.1f} s"


async def _many_files(scene: Scene) -> Finding:
    most = scene.limits.disk_mb
    line = f"for i in {{1..{most * 2}}}; do head -c 1M /dev/zero > f$i; sleep 0.03; done; sleep 60"
    result = await scene.shell(line, timeout_s=60)
    can_read = (await scene.shell("ls f1 && rm f*", timeout_s=60)).ok
    held = result.disk_limit and result.exit_code is None and can_read
    return Finding(held, f"{_disk_words(result)}, limit {most} MB, files still readable")


async def _empty_files(scene: Scene) -> Finding:
    line = "i=0; while [ $i -lt 100000 ]; do : > e$i; i=$((i + 1)); done; sleep 60"
    result = await scene.shell(line, timeout_s=60)
    held = result.disk_limit and result.exit_code is None
    return Finding(held, f"{_disk_words(result)}, limit {scene.limits.files} files")


_UNNAMED = """
import os, time
for n in range(400):
    fd = os.open("gone", os.O_CREAT | os.O_RDWR); os.unlink("gone")
    os.write(fd, bytes(1 << 20)); time.sleep(0.03)
time.sleep(60)
"""


async def _unnamed(scene: Scene) -> Finding:
    result = await scene.workspace.exec(Command("python3 -", stdin=_UNNAMED.encode(), timeout_s=60))
    return Finding(result.disk_limit and result.exit_code is None, _disk_words(result))


async def _burst(scene: Scene) -> Finding:
    """As fast as it goes: how far above the limit until the next look?"""
    most = scene.limits
    part = most.file_mb - 1
    line = f"for i in {{1..60}}; do head -c {part}M /dev/zero > b$i || exit; echo $i; done; sleep 9"
    result = await scene.shell(line, timeout_s=60)
    wrote = part * len(result.output.split())
    return Finding(
        False, f"{wrote} MB written before the end, limit {most.disk_mb} MB; {_disk_words(result)}"
    ) if result.disk_limit else Finding(False, "was never ended")  # fmt: skip


async def _output(scene: Scene) -> Finding:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await scene.shell("head -c 10G /dev/zero", timeout_s=120)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    held = result.exit_code is None and result.truncated and not result.timed_out and grown < 64
    return Finding(
        held, f"ended after {result.duration_s:.1f} s; the worker's memory grew by {grown} MB"
    )


async def _silent_flood(scene: Scene) -> Finding:
    flood = Command("yes >/proc/self/fd/2 & sleep 0.3; kill -9 $$", timeout_s=20)
    try:
        await scene.workspace.exec(flood)
    except SandboxError as error:
        return Finding(False, first_line(str(error)))
    left = await scene.shell("ps -u 10001 -o args= | grep -c '^[y]es' || true")
    held = left.output.strip() == "0"
    return Finding(held, "0 processes left, next command works")


RESOURCES = (
    Attack("memory", "resources", "take all memory", "memory limit, no swap", _memory),
    Attack("tmp", "resources", "fill /tmp", "a sized tmpfs, charged to the memory limit", _tmp),
    Attack("shared-memory", "resources", "fill /dev/shm", "a sized tmpfs", _shared_memory),
    Attack(
        "tmp-files", "resources", "200,000 files in /tmp", "the tmpfs's inode or memory limit",
        _tmp_files, alone=True,
    ),
    Attack(
        "fork-bomb", "resources", "a fork bomb", "process limit; ended by user id", _fork_bomb,
        alone=True,
    ),
    Attack("threads", "resources", "thousands of threads", "process limit", _threads),
    Attack("cpu", "resources", "four busy processes", "processor limit", _cpu),
    Attack("open-files", "resources", "open files without end", "open file limit", _open_files),
    Attack("huge-file", "resources", "one huge or sparse file", "file size limit", _huge_file),
    Attack(
        "many-files", "resources", "fill the disk with many files",
        "disk watch, or the engine's quota", _many_files, alone=True,
    ),
    Attack(
        "empty-files", "resources", "100,000 empty files",
        "disk watch counts files", _empty_files, alone=True,
    ),
    Attack(
        "unnamed-files", "resources", "fill the disk with open files whose names are gone",
        "disk watch looks into open files", _unnamed, alone=True, slow=True,
    ),
    Attack(
        "burst", "resources", "write as fast as the disk takes it",
        "ended at the next look, about a second later: what the disk takes until then is above "
        "the limit", _burst, alone=True, limit=True, slow=True,
    ),
    Attack(
        "output", "resources", "10 GB of output", "reading stops at 64 MB, both ends kept", _output,
    ),
    Attack(
        "silent-flood", "resources", "endless output of a process left behind",
        "ended by user id", _silent_flood, alone=True,
    ),
)  # fmt: skip
