"""What the stand-ins for platforms have in common: a server on this computer, and its faults."""

from __future__ import annotations

import datetime
import ipaddress
import re
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest


def unknown(monkeypatch: pytest.MonkeyPatch, kind: int = socket.EAI_NONAME) -> None:
    """No name of a server is known any more."""

    def refuse(*_: Any, **__: Any) -> None:
        raise socket.gaierror(kind, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def signed_by_itself(path: Path) -> Path:
    """A certificate for 127.0.0.1 that nobody else has signed, with its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    own = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(own + signed.public_bytes(serialization.Encoding.PEM))
    return path


class StandIn:
    """``faults`` are spent one by one, each by the first request whose ``METHOD path`` its pattern
    matches: a status with a reason, "drop" (the connection is cut after half of the body), "lost"
    (the work is done, but the answer never comes), "says" (the reason is the whole answer, with
    status 200), or another word (none). ``certificate``: a PEM file with its key, for https."""

    def __init__(self, handler: type[Handler], certificate: Path | None = None) -> None:
        self.requests: list[str] = []
        self.faults: list[tuple[str, int | str, str]] = []
        own = type("Handler", (handler,), {"standin": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), own)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.url = self.url.replace("http:", "https:")
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
        if fault and fault[1] == "says":
            return self._text(200, fault[2], {"Content-Type": "text/html"})
        answer = self._route(request, body)
        if fault and fault[1] == "lost":
            return self._cut()
        return self._answer(*answer)

    do_GET = do_POST = do_PUT = do_DELETE = _serve

    def _text(self, status: int, text: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(text.encode()))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

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
