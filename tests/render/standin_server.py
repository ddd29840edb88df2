"""What the stand-ins for platforms have in common: a server on this computer, and its faults."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class StandIn:
    """``faults`` are spent one by one, each by the first request whose ``METHOD path`` its pattern
    matches: a status with a reason, "drop" (the connection is cut after half of the body), "lost"
    (the work is done, but the answer never comes), or another word (none)."""

    def __init__(self, handler: type[Handler]) -> None:
        self.requests: list[str] = []
        self.faults: list[tuple[str, int | str, str]] = []
        own = type("Handler", (handler,), {"standin": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), own)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def count(self, pattern: str) -> int:
        return sum(re.search(pattern, request) is not None for request in self.requests)


class Handler(BaseHTTPRequestHandler):
    """Subclasses say what is answered, by ``_route``, ``_answer`` and ``_refuse``."""

    standin: Any
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def _serve(self) -> None:
        s = self.standin
        parts = urlsplit(self.path)
        self.query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        request = f"{self.command} {parts.path}"
        s.requests.append(request)
        length = int(self.headers.get("Content-Length") or 0)
        fault = next((f for f in s.faults if re.search(f[0], request)), None)
        if fault:
            s.faults.remove(fault)
            if fault[1] == "drop":
                self._take(self.rfile.read(length // 2))
                return self._cut()
        body = self.rfile.read(length)
        if fault and isinstance(fault[1], int):
            return self._refuse(fault[1], fault[2])
        answer = self._route(request, body)
        if fault and fault[1] == "lost":
            return self._cut()
        return self._answer(*answer)

    do_GET = do_POST = do_PUT = do_DELETE = _serve

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.close()

    def _take(self, body: bytes) -> None:
        """What came of a body before the connection was cut."""

    def _refuse(self, status: int, reason: str) -> None:
        raise NotImplementedError

    def _route(self, request: str, body: bytes) -> tuple[Any, ...]:
        raise NotImplementedError

    def _answer(self, *answer: Any) -> None:
        raise NotImplementedError
