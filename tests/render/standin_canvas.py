"""A stand-in for Canvas on this computer: as much of its HTTP as an upload uses, and faults."""

from __future__ import annotations

import json
import re
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from .standin_server import Handler, StandIn

TOKEN = "canvas-token-do-not-print-8c1f"


class CanvasStandIn(StandIn):
    """Holds what has been uploaded. ``faults`` are spent one by one, each by the first request
    whose ``METHOD path`` its pattern matches: a status, "drop" (the connection is cut after some
    of the body), or "lost" (the work is done, but the answer never comes)."""

    def __init__(self, certificate: Path | None = None) -> None:
        super().__init__(_Handler, certificate)
        self.files: dict[int, dict[str, Any]] = {}
        self.pending: dict[str, dict[str, Any]] = {}
        self.folders: dict[str, int] = {}
        self.tracks: dict[str, list[dict[str, str]]] = {}
        self.converting = 0  # times that a file's media is missing
        self.quota = 10**9
        self.confirms = "303"  # how the storage answers: a way to the file, or the file itself
        self.vanity = ""  # another address, to which the whole interface leads
        self.store = ""  # another address than its own for the bytes of files
        self._number = 100

    def number(self) -> int:
        self._number += 1
        return self._number

    def folder(self, path: str) -> int:
        return self.folders.setdefault(path, self.number())


class _Handler(Handler):
    standin: CanvasStandIn

    def _refuse(self, status: int, reason: str) -> None:
        self._answer(status, reason)

    def _answer(self, status: int, document: Any, location: str = "") -> None:
        text = document if isinstance(document, str) else json.dumps(document)
        headers = {"Content-Type": "application/json"}
        if status == 401:
            headers["WWW-Authenticate"] = 'Bearer realm="canvas-lms"'
        if status == 429:
            headers["Retry-After"] = "0"
        if location:
            headers["Location"] = location
        self._text(status, text, headers)

    def _route(self, request: str, body: bytes) -> tuple[Any, ...]:
        s = self.standin
        if request == "POST /storage":  # a store of its own: no token may come here
            if self.headers.get("Authorization"):
                return 400, {"message": "the token was sent to the storage"}
            return self._store(body)
        if s.vanity:
            return 301, "<html>moved</html>", f"{s.vanity}{request.split(' ')[1]}"
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, {"errors": [{"message": "Invalid access token."}]}
        if request == "GET /api/v1/courses/7":
            return 200, {"id": 7, "name": "水课"}
        if not request.split(" ")[1].startswith(("/api/v1/courses/7/", "/api/v1/", "/finish")):
            return 404, {"errors": [{"message": "not found"}]}
        if request == "POST /api/v1/courses/7/files":
            return self._announce(parse_qs(body.decode()))
        if found := re.fullmatch(r"GET /finish/(\w+)", request):
            return self._finish(found[1])
        if found := re.fullmatch(r"GET /finish/(\w+)/again", request):
            return 303, "", f"{s.url}/finish/{found[1]}"
        if found := re.fullmatch(r"GET /api/v1/courses/7/files/(\d+)", request):
            file = s.files.get(int(found[1]))
            return (200, self._shown(file)) if file else (404, {"message": "not found"})
        if found := re.fullmatch(r"GET /api/v1/courses/7/folders/by_path/(.+)", request):
            path = found[1]
            if path not in s.folders:
                return 404, {"message": "not found"}
            return 200, [{"id": 1, "name": "root"}, {"id": s.folders[path], "name": path}]
        if found := re.fullmatch(r"GET /api/v1/folders/(\d+)/files", request):
            inside = [f for f in s.files.values() if f["folder_id"] == int(found[1])]
            return 200, [self._shown(file) for file in inside]
        if found := re.fullmatch(r"PUT /api/v1/media_objects/([\w-]+)/media_tracks", request):
            s.tracks[found[1]] = json.loads(body)
            return 200, s.tracks[found[1]]
        return 404, {"message": "not found"}

    def _announce(self, fields: dict[str, list[str]]) -> tuple[Any, ...]:
        s = self.standin
        said = {key: values[0] for key, values in fields.items()}
        if int(said["size"]) > s.quota:
            return 400, {"message": "file size exceeds quota limits"}
        key = f"key{s.number()}"
        folder = said.get("parent_folder_id")
        said["folder"] = str(int(folder) if folder else s.folder(said["parent_folder_path"]))
        s.pending[key] = said
        url = s.store or f"{s.url}/storage"
        return 200, {"upload_url": url, "upload_params": {"key": key, "x": "1 & 2"}}

    def _store(self, body: bytes) -> tuple[Any, ...]:
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        parts = list(BytesParser(policy=HTTP).parsebytes(head + body).iter_parts())
        names = [part.get_param("name", header="content-disposition") for part in parts]
        if names[-1] != "file" or "key" not in names or "x" not in names:
            return 400, {"message": f"fields {names}"}
        key = parts[names.index("key")].get_content().strip()
        self.standin.pending[key]["content"] = parts[-1].get_payload(decode=True)
        way = f"{self.standin.url}/finish/{key}"
        match self.standin.confirms:
            case (
                "201 at once"
            ):  # its address is another name of this server, to which no token goes
                status, file = self._finish(key)
                return status, file, "http://localhost:9/api/v1/files"
            case "201 and a way":
                return 201, "", way
            case "a way and another":
                return 303, "", f"{way}/again"
            case "201 behind while(1);":
                status, file = self._finish(key)
                return status, f"while(1);{json.dumps(file)}"
            case "nothing":
                return 201, "<html>thank you</html>"
            case _:
                return 303, "", way

    def _finish(self, key: str) -> tuple[Any, ...]:
        s = self.standin
        if key not in s.pending:
            return 400, {"message": "no such upload"}  # as for one that was confirmed before
        said = s.pending.pop(key)
        same = [
            number
            for number, file in s.files.items()
            if (file["display_name"], file["folder_id"]) == (said["name"], int(said["folder"]))
        ]
        for number in same if said.get("on_duplicate", "overwrite") == "overwrite" else ():
            del s.files[number]
        number = s.number()
        s.files[number] = {
            "id": number,
            "display_name": said["name"],
            "folder_id": int(said["folder"]),
            "size": len(said["content"]),
            "content": said["content"],
            "url": f"{s.url}/files/{number}/download",
        }
        return 201, self._shown(s.files[number])

    def _shown(self, file: dict[str, Any]) -> dict[str, Any]:
        s = self.standin
        shown = {key: value for key, value in file.items() if key != "content"}
        waiting = s.converting > 0
        s.converting -= waiting
        return shown | {"media_entry_id": "maybe" if waiting else f"m-{file['id']}"}
