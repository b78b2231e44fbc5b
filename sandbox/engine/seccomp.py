"""The system calls that repository code may make: an allow list of Prism's own, kept as data.

An engine's default list differs with its version: 20.10 allows io_uring and AF_VSOCK, most allow
AF_ALG, all allow ptrace. What is not in `seccomp.json` fails with EPERM; 32-bit programs end
with SIGSYS, because that file names no second architecture. Three choices that are not obvious:

- `socket` names the families it allows one by one. The kernel reads the family as 32 bits, the
  filter compares 64: "any but these" and "above these" let a number with a high bit through.
- `clone` may not carry a flag that makes a namespace; `clone3`, whose flags a filter cannot see,
  answers ENOSYS (38), whereupon every C library uses `clone`.
- apt and dpkg as root need nothing beyond the list.
"""

import json
from functools import cache
from importlib.resources import files

TRACING = ("process_vm_readv", "process_vm_writev", "ptrace")


@cache
def profile(allow_ptrace: bool = False) -> str:
    """The profile as the JSON text that the engine's `seccomp=` option takes.

    `allow_ptrace` also admits what debuggers and the address sanitizer's leak check use.
    """
    data = json.loads(files("sandbox.engine").joinpath("seccomp.json").read_text("utf-8"))
    if allow_ptrace:
        data["syscalls"].append({"names": list(TRACING), "action": "SCMP_ACT_ALLOW"})
    return json.dumps(data, separators=(",", ":"))
