"""Becoming more than the sandbox user, and reaching what belongs to the machine."""

import re

from sandbox.attacks.base import Attack, Finding, Scene, first_line

_END = re.compile(r"\d+ \d+")
_DEVICES = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}


async def _all_refused(scene: Scene, lines: tuple[str, ...]) -> Finding:
    """Each line must fail, and not for want of the tool; says how many and the first answer."""
    text = "\n".join(
        f"( {line} ) >/dev/null 2>/tmp/why; echo {n} $?; head -1 /tmp/why"
        for n, line in enumerate(lines)
    )
    result = await scene.shell(text)
    ends = [row.split() for row in result.output.splitlines() if _END.fullmatch(row)]
    done = [lines[int(number)] for number, code in ends if code == "0"]
    if done:
        return Finding(False, f"succeeded: {done[0]}")
    tried = sum(code != "127" for _, code in ends)
    words = [row for row in result.output.splitlines() if not _END.fullmatch(row)]
    why = first_line(words[0]) if words else ""
    return Finding(tried > len(lines) // 2, f"{tried} of {tried} refused: {why}")


async def _become_root(scene: Scene) -> Finding:
    result = await scene.shell(
        "su -c 'id -u' </dev/null; cp /usr/bin/id mine; chmod u+s,g+s mine; ./mine -u; rm mine; "
        "for p in $(find / -xdev -perm /6000 -type f 2>/dev/null); do echo setid $p; done; "
        "python3 -c 'import os; os.setuid(0); print(os.getuid())'; "
        "grep -E '^(CapEff|CapBnd|CapAmb|NoNewPrivs)' /proc/self/status"
    )
    rows = result.output.splitlines()
    none = all(f"{cap}:\t{0:016x}" in rows for cap in ("CapEff", "CapBnd", "CapAmb"))
    held = none and "NoNewPrivs:\t1" in rows and "0" not in rows
    inert = sum(row.startswith("setid ") for row in rows)
    return Finding(held, f"no capability, NoNewPrivs 1, {inert} set-id files inert")


async def _namespaces(scene: Scene) -> Finding:
    lines = tuple(f"unshare {flag} true" for flag in ("-Ur", "-n", "-m", "-p -f", "-i", "-u", "-C"))
    return await _all_refused(scene, (*lines, "nsenter -t 1 -a true"))


async def _mounts(scene: Scene) -> Finding:
    return await _all_refused(
        scene,
        (
            "mount -t tmpfs none /mnt",
            "mount --bind /etc /mnt",
            "mount -o remount,rw /sys",
            "mount -t proc proc /mnt",
            "umount /tmp",
            "umount /proc/kcore",
            "pivot_root . .",
            "chroot / true",
        ),
    )


async def _devices(scene: Scene) -> Finding:
    refused = await _all_refused(
        scene,
        ("mknod b b 8 0", "mknod c c 1 1", "head -c 1 /dev/mem", "head -c 1 /dev/sda",
         "head -c 1 /dev/vda", "head -c 1 /dev/kmsg"),
    )  # fmt: skip
    listed = await scene.shell("find /dev -xdev \\( -type b -o -type c \\) -printf '%f '")
    extra = set(listed.output.split()) - _DEVICES
    held = refused.held and not extra
    return Finding(held, f"{refused.observed}; devices: {listed.output.strip()}")


async def _system_settings(scene: Scene) -> Finding:
    return await _all_refused(
        scene,
        (
            "hostname other",
            "date -s 2000-01-01",
            "dmesg",
            "echo x > /proc/sys/kernel/hostname",
            "echo '|/tmp/x' > /proc/sys/kernel/core_pattern",
            "echo 1 > /proc/sys/vm/drop_caches",
            "echo h > /proc/sysrq-trigger",
            "echo -1000 > /proc/1/oom_score_adj",
            "echo -1000 > /proc/self/oom_score_adj",
            "sysctl -w vm.overcommit_memory=1",
        ),
    )


async def _cgroups(scene: Scene) -> Finding:
    line = (
        "find /sys -xdev -type f -writable -printf 'open %p\\n' 2>/dev/null | head -3; "
        "for f in $(find /sys/fs/cgroup -name cgroup.procs -o -name release_agent -o "
        "-name memory.limit_in_bytes -o -name memory.max 2>/dev/null | head -40); do "
        "(echo 1 > $f) 2>/dev/null && echo wrote $f; done; mkdir /sys/fs/cgroup/memory/x; true"
    )
    rows = (await scene.shell(line)).output.splitlines()
    bad = [row for row in rows if row.startswith(("open ", "wrote "))]
    return Finding(not bad, bad[0] if bad else "nothing below /sys can be written")


async def _kernel_memory(scene: Scene) -> Finding:
    result = await scene.shell(
        "for f in /proc/kcore /proc/kmsg /proc/1/environ /proc/1/mem /proc/1/maps; do "
        "[ -n \"$(head -c 16 $f 2>/dev/null | tr -d '\\0')\" ] && echo read $f; done; "
        "ls /proc/1/root/ /proc/1/cwd/ >/dev/null 2>&1 && echo read root; "
        "awk '$1 !~ /^0+$/ {n++} END {print n+0, \"kernel addresses\"}' /proc/kallsyms; "
        "true"
    )
    bad = [row for row in result.output.splitlines() if row.startswith("read ")]
    seen = first_line(result.output) or "no list of kernel addresses"
    shown = seen.split()[0] not in {"0", "no"}
    return Finding(not bad and not shown, bad[0] if bad else f"nothing read; {seen}")


async def _harness_files(scene: Scene) -> Finding:
    return await _all_refused(
        scene,
        (
            "touch /opt/prism/x",
            "touch /opt/prism/base.git/HEAD",
            "echo x >> /etc/passwd",
            "touch /usr/bin/git",
            "echo x > /usr/local/bin/git",
            "mv /workspace /workspace2",
            "rmdir /workspace",
            "ln -s /etc /workspace2",
        ),
    )


async def _engine(scene: Scene) -> Finding:
    found = await scene.shell(
        "find / -xdev -type s 2>/dev/null; find /run /var/run /tmp -type s 2>/dev/null; "
        "ls -d /var/lib/docker /.dockerenv/.. /host /mnt/* 2>/dev/null | grep -v dockerenv; true"
    )
    sockets = found.output.split()
    return Finding(not sockets, first_line(found.output) or "no socket and no host folder found")


PRIVILEGES = (
    Attack(
        "root", "privileges", "become root: su, set-uid programs, own set-uid files, setuid()",
        "all capabilities dropped, no new privileges", _become_root,
    ),
    Attack(
        "namespaces", "privileges", "new or foreign namespaces by unshare and nsenter",
        "own system call list", _namespaces,
    ),
    Attack(
        "mounts", "privileges", "mount, unmount, pivot_root, chroot",
        "no capability, own system call list", _mounts,
    ),
    Attack(
        "devices", "privileges", "make device nodes, read memory and disks",
        "no capability, no devices in the container", _devices,
    ),
    Attack(
        "settings", "privileges", "host name, clock, kernel log, /proc/sys, sysrq, OOM score",
        "read-only /proc/sys, no capability", _system_settings,
    ),
    Attack(
        "cgroups", "privileges", "raise one's own limits through the cgroup files",
        "read-only /sys", _cgroups,
    ),
    Attack(
        "kernel-memory", "privileges", "/proc/kcore, kernel log and addresses, memory of process 1",
        "masked paths, another user for process 1", _kernel_memory,
    ),
    Attack(
        "harness-files", "privileges", "change the recorded base, system programs, the tree",
        "they belong to root", _harness_files,
    ),
    Attack(
        "engine-socket", "privileges", "find the engine's socket or a folder of the host",
        "nothing of the host is mounted", _engine,
    ),
)  # fmt: skip
