"""``python -m render.build.nursery FD CODE``: import what workers need, fork one for each task.

FD is a socket to the pool. A request names a task file and its folder and carries three files:
messages, stdin, lock. Answers: the pid of the worker, and later its exit code. It ends with the
socket. CODE keeps digests of code: those of the imported files are taken before they are imported,
so that a worker can tell if they have been edited since.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import selectors
import socket
import sys
from pathlib import Path
from typing import Any, NoReturn

from render.build.incremental import made
from render.build.incremental.code import Code


def main(descriptor: str, code_kept: str) -> None:
    code = Code(Path(code_kept))
    made.IMPORTED.update(code.whole("scenes.base"))
    code.keep()
    _import()
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        return  # a fork would have half of them
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=int(descriptor)) as pool, selectors.DefaultSelector() as selector:
        selector.register(pool, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is pool:
                    if not _fork(pool, selector):
                        return
                else:
                    _bury(pool, selector, key)


def _import() -> None:
    """Everything but the scene itself."""
    import scenes.base  # noqa: F401
    from render.draw.fast import build, native

    with contextlib.suppress(build.NotBuilt):
        native.load()


def _fork(pool: socket.socket, selector: selectors.BaseSelector) -> bool:
    """Read a request and answer it; False at the end."""
    data, files, _, _ = socket.recv_fds(pool, 1 << 16, 3)
    if not data:
        return False
    asked = json.loads(data)
    pid = os.fork()
    if pid == 0:
        pool.close()
        _work(asked, *files)
    for descriptor in files:
        os.close(descriptor)
    selector.register(os.pidfd_open(pid), selectors.EVENT_READ, pid)
    pool.send(json.dumps({"pid": pid}).encode())
    return True


def _bury(pool: socket.socket, selector: selectors.BaseSelector, key: Any) -> None:
    """Tell how a worker ended."""
    selector.unregister(key.fileobj)
    os.close(key.fd)
    _, status = os.waitpid(key.data, 0)
    said = {"ended": key.data, "code": os.waitstatus_to_exitcode(status)}
    pool.send(json.dumps(said).encode())


def _work(asked: dict[str, str], messages: int, stdin: int, lock: int) -> NoReturn:
    """Be the worker; ``lock`` stays open as long as it lives."""
    code = 1
    try:
        os.setsid()
        os.dup2(stdin, 0)
        os.close(stdin)
        os.chdir(asked["folder"])
        from render.draw import worker

        worker.main(asked["task"], str(messages))
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
