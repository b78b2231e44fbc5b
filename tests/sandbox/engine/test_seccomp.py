"""The list of system calls: what it says, and what a container with it refuses and allows."""

import json

import pytest

from sandbox.base import Command, Workspace
from sandbox.engine.seccomp import TRACING, profile

FORBIDDEN = """
    acct add_key bpf chroot clock_settime clone3 delete_module fanotify_init finit_module
    fsconfig fsmount fsopen fspick init_module io_uring_enter io_uring_register io_uring_setup
    ioperm iopl kcmp kexec_load keyctl lookup_dcookie mbind modify_ldt mount mount_setattr
    move_mount name_to_handle_at nfsservctl open_by_handle_at open_tree perf_event_open
    pidfd_getfd pivot_root process_madvise process_vm_readv process_vm_writev ptrace quotactl
    reboot request_key setdomainname sethostname setns settimeofday socketcall swapoff swapon
    syslog umount2 unshare userfaultfd vhangup vmsplice
"""
NAMESPACES = 0x7E020000  # every CLONE_NEW… that clone takes


def rules(name: str, allow_ptrace: bool = False) -> list[dict[str, object]]:
    """The rules about a system call."""
    return [each for each in json.loads(profile(allow_ptrace))["syscalls"] if name in each["names"]]


def test_what_is_not_listed_fails() -> None:
    """An allow list: a system call of tomorrow's kernel is refused before anybody knows it."""
    data = json.loads(profile())
    assert data["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed = {n for each in data["syscalls"] if "ALLOW" in each["action"] for n in each["names"]}
    assert not set(FORBIDDEN.split()) & allowed
    assert {"read", "execve", "futex", "clone", "socket"} <= allowed


def test_no_name_is_listed_twice() -> None:
    """Rules of one name are joined by "or": a bare one beside one with arguments undoes it."""
    conditional = {"clone", "socket", "socketpair", "personality"}
    names = [n for each in json.loads(profile())["syscalls"] for n in each["names"]]
    once = [name for name in names if name not in conditional]
    assert len(once) == len(set(once))
    for name in conditional:
        assert all(each["args"] for each in rules(name)), name


def test_one_architecture_at_a_time() -> None:
    """32-bit programs have system calls of their own, `socketcall` among them: there are none."""
    for entry in json.loads(profile())["archMap"]:
        assert entry["subArchitectures"] == []


def test_socket_families_are_named_one_by_one() -> None:
    """Nothing but equality: the filter compares 64 bits of what the kernel reads as 32."""
    for name, families in (("socket", [1, 2, 10, 16]), ("socketpair", [1])):
        (args,) = zip(*(each["args"] for each in rules(name)), strict=True)  # type: ignore[call-overload]
        assert [arg["value"] for arg in args] == families
        assert {(arg["index"], arg["op"]) for arg in args} == {(0, "SCMP_CMP_EQ")}


def test_clone_makes_no_namespace() -> None:
    """All the flags at once are masked, and clone3, which hides them, is not there."""
    (clone,) = rules("clone")
    assert clone["args"] == [
        {"index": 0, "value": NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    ]
    (clone3,) = rules("clone3")
    assert (clone3["action"], clone3["errnoRet"]) == ("SCMP_ACT_ERRNO", 38)


def test_the_switch_adds_tracing_and_nothing_else() -> None:
    """Debuggers need three calls; a later call without the switch does not see them."""
    with_tracing = json.loads(profile(allow_ptrace=True))["syscalls"]
    without = json.loads(profile())["syscalls"]
    assert with_tracing == [
        *without,
        {"names": list(TRACING), "action": "SCMP_ACT_ALLOW"},
    ]


# Every probe says its name and the error's number; "died" when the call ended the process.
PROBES = r"""
import ctypes, mmap, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
amd = os.uname().machine == "x86_64"

def call(name, number, *args):
    if number is None:
        return
    ctypes.set_errno(0)
    pid = os.fork()
    if pid == 0:
        result = libc.syscall(*map(ctypes.c_long, (number, *args)))
        os._exit(ctypes.get_errno() if result < 0 else 0)
    status = os.waitpid(pid, 0)[1]
    print(name, "died" if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))

HIGH = 1 << 32
call("io_uring_setup", 425, 1, 0)
call("clone3", 435, 0, 0)
call("open_tree", 428, 0, 0, 0)
call("pidfd_getfd", 438, 0, 0, 0)
call("fsopen", 430, 0, 0)
call("keyctl", 250 if amd else 219, 0, 0)
call("userfaultfd", 323 if amd else 282, 0)
call("ptrace", 101 if amd else 117, 0, 0, 0, 0)
call("process_vm_readv", 310 if amd else 270, os.getpid(), 0, 0, 0, 0, 0)
call("mount", 165 if amd else 40, 0, 0, 0, 0, 0)
call("unshare", 272 if amd else 97, 0x10000000)
call("setns", 308 if amd else 268, 0, 0)
call("bpf", 321 if amd else 280, 0, 0, 0)
call("perf_event_open", 298 if amd else 241, 0, 0, 0, 0, 0)
call("chroot", 161 if amd else 51, 0)
for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
    call(f"clone-{flag:x}", 56 if amd else 220, flag | 17, 0, 0, 0, 0)
    call(f"clone-high-{flag:x}", 56 if amd else 220, HIGH | flag | 17, 0, 0, 0, 0)
for family in (17, 29, 31, 38, 40, 44):
    call(f"socket-{family}", 41 if amd else 198, family, 2, 0)
    call(f"socket-high-{family}", 41 if amd else 198, HIGH | family, 2, 0)
call("x32", 0x40000000 | 39 if amd else None)
if amd:
    pid = os.fork()
    if pid == 0:  # mov eax, 20; int 0x80; ret: getpid of a 32-bit program
        code = mmap.mmap(-1, 4096, prot=7)
        code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
        ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
        os._exit(0)
    print("i386", "died" if os.WIFSIGNALED(os.waitpid(pid, 0)[1]) else 0)
"""

WORKS = """
set -e
cat > /tmp/pools.py <<'X'
import multiprocessing, socket, subprocess, threading
if __name__ == "__main__":
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(abs, [-1, -2]) == [1, 2]
    threading.Thread(target=print).start()
    for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6):
        socket.socket(family).close()
    socket.socketpair(); socket.if_nameindex(); socket.getaddrinfo("127.0.0.1", 80)
    assert subprocess.run(["true"]).returncode == 0
X
python3 /tmp/pools.py
node -e 'new (require("worker_threads").Worker)("process.exit(0)", {eval: true});
  require("child_process").execSync("true"); require("os").networkInterfaces()'
git init -q /tmp/r && git -C /tmp/r status > /dev/null
mkfifo /tmp/fifo; echo all
"""


@pytest.mark.engine
async def test_a_workspace_refuses_them_and_works(workspace: Workspace) -> None:
    """Every probe is refused, also with a high bit set; ordinary tools miss nothing."""
    ran = await workspace.exec(Command("python3 -", stdin=PROBES.encode()))
    said = dict(line.split() for line in ran.output.splitlines())
    assert len(said) >= 40
    assert said.pop("clone3") == "38"
    for name in ("x32", "i386"):
        assert said.pop(name, "died") == "died"
    assert set(said.values()) == {"1"}, said
    works = await workspace.exec(Command(WORKS))
    assert works.output.splitlines()[-1] == "all", works.output
