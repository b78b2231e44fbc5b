"""Risky system calls, tried by number so that no library and no tool stands between.

Arguments are ones the kernel itself would refuse in another way (EFAULT, EINVAL, EBADF): EPERM
and ENOSYS mean that the call did not get there.
"""

from collections.abc import Mapping

from sandbox.attacks.base import Attack, Finding, Probe, Scene

# name: (number on x86-64, number on arm64; None where there is no such call)
_NUMBERS: Mapping[str, tuple[int, int | None]] = {
    "unshare": (272, 97), "setns": (308, 268), "clone3": (435, 435),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "reboot": (169, 142), "swapon": (167, 224), "acct": (163, 89),
    "settimeofday": (164, 170), "sethostname": (170, 161), "syslog": (103, 116),
    "quotactl": (179, 60), "iopl": (172, None),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "bpf": (321, 280), "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "userfaultfd": (323, 282), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "fanotify_init": (300, 262), "lookup_dcookie": (212, 18), "personality": (135, 92),
}  # fmt: skip
# Arguments; everything else gets six times -1.
_ARGUMENTS: Mapping[str, tuple[int, ...]] = {
    "unshare": (0x10000000,),  # CLONE_NEWUSER
    "syslog": (10,),
    "reboot": (0, 0, 0),
    "personality": (0x0040000,),  # ADDR_NO_RANDOMIZE
    "userfaultfd": (0,),
    "io_uring_setup": (1, 0),
    "kcmp": (1, 1, 0, 0, 0),
    "ptrace": (16, 1, 0, 0),  # PTRACE_ATTACH
}
_PROGRAM = """
import ctypes, errno, os, platform
libc = ctypes.CDLL(None, use_errno=True)
which = 0 if platform.machine() == "x86_64" else 1
for name, (numbers, args) in CALLS.items():
    if numbers[which] is None:
        print(name, "ENOSYS"); continue
    ctypes.set_errno(0)
    got = libc.syscall(ctypes.c_long(numbers[which]), *(ctypes.c_long(a) for a in args))
    print(name, "ok" if got >= 0 else errno.errorcode.get(ctypes.get_errno(), "?"))
"""
_SOCKETS = """
import errno, socket
for family, kind, protocol in ((40, 1, 0), (38, 5, 0), (17, 3, 768), (2, 3, 1), (10, 3, 58),
                               (31, 3, 1), (29, 3, 1), (44, 3, 0), (15, 3, 2), (16, 3, 6)):
    try:
        socket.socket(family, kind, protocol).close(); answer = "ok"
    except OSError as error:
        answer = errno.errorcode[error.errno]
    print(family, answer)
try:
    socket.socket(2 | 1 << 32, 1, 0).close()
except (OSError, OverflowError):
    pass
"""
_SEEN = frozenset({"EPERM", "ENOSYS", "EACCES"})
_NO_SOCKET = _SEEN | {"EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT"}


async def _answers(scene: Scene) -> dict[str, str]:
    if "calls" not in scene.kept:
        calls = {
            name: (numbers, _ARGUMENTS.get(name, (-1,) * 6)) for name, numbers in _NUMBERS.items()
        }
        scene.kept["calls"] = await scene.python(f"CALLS = {calls!r}\n{_PROGRAM}")
    rows = (row.split() for row in scene.kept["calls"].splitlines())
    return {row[0]: row[1] for row in rows if len(row) == 2}


def _calls(*names: str) -> Probe:
    async def probe(scene: Scene) -> Finding:
        answers = await _answers(scene)
        got = {name: answers.get(name, "no answer") for name in names}
        reached = [f"{name}: {answer}" for name, answer in got.items() if answer not in _SEEN]
        if reached:
            return Finding(False, "reached the kernel: " + ", ".join(reached))
        kinds = sorted(set(got.values()))
        return Finding(True, f"{len(names)} of {len(names)} refused ({', '.join(kinds)})")

    return probe


async def _filter(scene: Scene) -> Finding:
    result = await scene.shell("grep -E '^Seccomp:' /proc/self/status")
    return Finding(result.output.split() == ["Seccomp:", "2"], result.output.strip())


async def _sockets(scene: Scene) -> Finding:
    rows = [row.split() for row in (await scene.python(_SOCKETS)).splitlines()]
    answers = {row[0]: row[1] for row in rows if len(row) == 2}
    # 16 is netlink, which programs list interfaces by; a sandbox of its own has nothing to list.
    open_ = [family for family, answer in answers.items() if answer not in _NO_SOCKET]
    open_ = [family for family in open_ if family != "16"]
    return Finding(
        len(answers) == 10 and not open_,
        f"families opened: {', '.join(open_)}" if open_ else "9 of 9 kinds refused",
    )


_ROWS = (
    ("namespaces-calls", "namespaces: unshare, setns, clone3", ("unshare", "setns", "clone3")),
    ("mount-calls", "mounts, old interface and new",
     ("mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen",
      "mount_setattr")),
    ("modules", "kernel modules, kexec, reboot",
     ("init_module", "finit_module", "delete_module", "kexec_load", "reboot")),
    ("system", "clock, host name, log, swap, quota, accounting, ports",
     ("settimeofday", "sethostname", "syslog", "swapon", "quotactl", "acct", "iopl")),
    ("keys", "key rings, which containers share", ("add_key", "request_key", "keyctl")),
    ("tracing", "look into other processes: ptrace, process_vm_*, kcmp",
     ("ptrace", "process_vm_readv", "process_vm_writev", "kcmp")),
    ("bpf", "bpf, perf events, fanotify", ("bpf", "perf_event_open", "fanotify_init")),
    ("io-uring", "io_uring", ("io_uring_setup", "io_uring_enter", "io_uring_register")),
    ("userfaultfd", "userfaultfd, which makes kernel races winnable", ("userfaultfd",)),
    ("handles", "open files by handle, around the container's root",
     ("open_by_handle_at", "name_to_handle_at", "lookup_dcookie")),
    ("personality", "switch off address randomisation by personality", ("personality",)),
)  # fmt: skip
KERNEL = (
    Attack("filter", "kernel", "run without a system call filter", "own list in force", _filter),
    *(
        Attack(id_, "kernel", title, "own system call list", _calls(*names))
        for id_, title, names in _ROWS
    ),
    Attack(
        "sockets",
        "kernel",
        "sockets that reach kernel code or the host: vsock, AF_ALG, packet, raw, Bluetooth, XDP",
        "own system call list names the allowed families",
        _sockets,
    ),
)
