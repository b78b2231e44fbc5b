"""A parser's end when its parent is gone, whatever either is doing.

The parent holds the writing end of a pipe; the kernel signals the reading end when that closes.
A parser that waits for its next read would first finish a file, and `PR_SET_PDEATHSIG` ends it
with the thread that started it.
"""

import os
import select
from fcntl import F_GETFL, F_SETFL, F_SETOWN, fcntl


def hold(pipe: int) -> None:
    """End this process by SIGIO as soon as nobody can write to the pipe any more, or now."""
    fcntl(pipe, F_SETOWN, os.getpid())
    fcntl(pipe, F_SETFL, fcntl(pipe, F_GETFL) | os.O_ASYNC)
    poll = select.poll()
    poll.register(pipe, 0)
    if poll.poll(0):
        os._exit(0)
