"""A stand-in for YouTube on this computer: as much of its HTTP as an upload uses, and faults."""

from __future__ import annotations

import json
import re
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .standin_server import Handler, StandIn

CLIENT = "client-1234.apps.example"
SECRET = "client-secret-do-not-print-77aa"
REFRESH = "refresh-token-do-not-print-51bc"
ACCESS = "access-token-do-not-print-90ef"


class YouTubeStandIn(StandIn):
    """Holds what has been uploaded. ``faults`` are spent one by one, each by the first request
    whose ``METHOD path`` its pattern matches: a status with a reason, "drop" (the connection is
    cut after half of the body, which is kept), "lost" (the work is done, no answer comes), or
    "skip" (none)."""

    def __init__(self, certificate: Path | None = None) -> None:
        super().__init__(_Handler, certificate)
        self.videos: dict[str, dict[str, Any]] = {}
        self.sessions: dict[str, dict[str, Any]] = {}
        self.captions: dict[str, dict[str, Any]] = {}
        self.covers: dict[str, bytes] = {}
        self.received = 0  # bytes of videos
        self.refuses_login = False
        self.processing = 0  # times that it says of the next video that it is being worked on
        self.verdict: dict[str, str] = {"uploadStatus": "processed"}  # and what comes of it
        self.details = {"processingStatus": "succeeded"}
        self.stuck = False  # takes no more bytes, and does not say so
        self.sends_elsewhere = ""  # the address of another server, for the bytes of videos
        self._number = 0

    def name(self, kind: str) -> str:
        self._number += 1
        return f"{kind}{self._number}"


class _Handler(Handler):
    standin: YouTubeStandIn

    def _refuse(self, status: int, reason: str) -> None:
        told = {"error": {"code": status, "message": reason, "errors": [{"reason": reason}]}}
        self._answer(status, told, {})

    def _answer(self, status: int, document: Any, headers: dict[str, str]) -> None:
        text = "" if document is None else json.dumps(document)
        self._text(status, text, {"Content-Type": "application/json", **headers})

    def _route(self, request: str, body: bytes) -> tuple[int, Any, dict[str, str]]:
        s = self.standin
        if request == "POST /token":
            said = {key: values[0] for key, values in parse_qs(body.decode()).items()}
            good = said.get("refresh_token") == REFRESH and said.get("client_secret") == SECRET
            if s.refuses_login or not good:
                return 400, {"error": "invalid_grant", "error_description": "expired"}, {}
            return 200, {"access_token": ACCESS, "expires_in": 3600, "token_type": "Bearer"}, {}
        if request.startswith("PUT /session/"):
            return self._piece(body)
        if self.headers.get("Authorization") != f"Bearer {ACCESS}":
            return 401, {"error": {"errors": [{"reason": "authError"}]}}, {}
        method, _, path = request.partition(" ")
        kind = path.removeprefix("/upload").removeprefix("/youtube/v3/")
        handler = getattr(self, f"_{method.lower()}_{kind.replace('/', '_')}", None)
        return handler(body) if handler else (404, {"error": {"errors": [{"reason": path}]}}, {})

    def _get_channels(self, _: bytes) -> tuple[int, Any, dict[str, str]]:
        item = {
            "id": "UC1",
            "snippet": {"title": "水课频道"},
            "contentDetails": {"relatedPlaylists": {"uploads": "UU1"}},
        }
        return 200, {"items": [item]}, {}

    def _get_playlistItems(self, _: bytes) -> tuple[int, Any, dict[str, str]]:
        names = list(self.standin.videos)
        if not names:  # the list appears with the first video
            return 404, {"error": {"errors": [{"reason": "playlistNotFound"}]}}, {}
        start = int(self.query.get("pageToken", 0))
        page = names[start : start + 2]  # short pages, so that the next one is asked for
        answer: dict[str, Any] = {"items": [{"contentDetails": {"videoId": n}} for n in page]}
        if start + 2 < len(names):
            answer["nextPageToken"] = str(start + 2)
        return 200, answer, {}

    def _get_videos(self, _: bytes) -> tuple[int, Any, dict[str, str]]:
        names = self.query["id"].split(",")
        found = [self.standin.videos[n] for n in names if n in self.standin.videos]
        parts = ("id", *self.query["part"].split(","))
        shown = [{key: v[key] for key in parts if key in v} for v in found]
        for video in shown:
            self._process(video)
        return 200, {"items": shown}, {}

    def _process(self, video: dict[str, Any]) -> None:
        """What YouTube says of its work on a video that was uploaded."""
        work = self.standin.videos[video["id"]].get("work")
        if work is None:
            return
        working = work["polls"] > 0
        work["polls"] -= working
        state = {"uploadStatus": "uploaded"} if working else work["verdict"]
        video["status"] = {**video["status"], **state}
        video["processingDetails"] = (
            {"processingStatus": "processing"} if working else work["details"]
        )

    def _put_videos(self, body: bytes) -> tuple[int, Any, dict[str, str]]:
        said = json.loads(body)
        video = self.standin.videos[said["id"]]
        video["snippet"] = said["snippet"]
        return 200, {"id": said["id"]}, {}

    def _delete_videos(self, _: bytes) -> tuple[int, Any, dict[str, str]]:
        del self.standin.videos[self.query["id"]]
        return 204, None, {}

    def _post_videos(self, body: bytes) -> tuple[int, Any, dict[str, str]]:
        s = self.standin
        name = s.name("s")
        size = int(self.headers["X-Upload-Content-Length"])
        s.sessions[name] = {"body": json.loads(body), "size": size, "content": b"", "video": ""}
        where = s.sends_elsewhere or s.url
        return 200, None, {"Location": f"{where}/session/{name}?upload_id=secret-session"}

    def _take(self, body: bytes) -> None:
        """Keep the bytes of a piece, where they begin at the end of those that are there."""
        name = urlsplit(self.path).path.rpartition("/")[2]
        session = self.standin.sessions.get(name)
        place = re.match(r"bytes (\d+)-", self.headers.get("Content-Range", ""))
        if session is None or place is None:
            return
        assert int(place[1]) == len(session["content"]), "a piece at the wrong place"
        session["content"] += body
        self.standin.received += len(body)

    def _piece(self, body: bytes) -> tuple[int, Any, dict[str, str]]:
        s = self.standin
        session = s.sessions.get(urlsplit(self.path).path.rpartition("/")[2])
        if session is None:
            return 404, {"error": {"errors": [{"reason": "notFound"}]}}, {}
        if session["video"]:
            return 200, s.videos[session["video"]]["answer"], {}
        if not s.stuck:
            self._take(body)
        if len(session["content"]) < session["size"]:
            end = len(session["content"]) - 1
            return 308, None, {"Range": f"bytes=0-{end}"} if end >= 0 else {}
        name = session["video"] = s.name("v")
        said = session["body"]
        s.videos[name] = {
            "id": name,
            "snippet": said["snippet"],
            "status": said["status"],
            "work": {"polls": s.processing, "verdict": s.verdict, "details": s.details},
            "content": session["content"],
            "answer": {"id": name, "snippet": said["snippet"]},
        }
        return 200, s.videos[name]["answer"], {}

    def _multipart(self, body: bytes) -> tuple[dict[str, Any], bytes]:
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        one, two = BytesParser(policy=HTTP).parsebytes(head + body).iter_parts()
        return json.loads(one.get_payload(decode=True)), two.get_payload(decode=True)

    def _get_captions(self, _: bytes) -> tuple[int, Any, dict[str, str]]:
        items = [
            {"id": name, "snippet": track["snippet"]}
            for name, track in self.standin.captions.items()
            if track["snippet"]["videoId"] == self.query["videoId"]
        ]
        return 200, {"items": items}, {}

    def _post_captions(self, body: bytes) -> tuple[int, Any, dict[str, str]]:
        s = self.standin
        said, content = self._multipart(body)
        snippet = said["snippet"]
        for track in s.captions.values():
            there = track["snippet"]
            if all(there[key] == snippet[key] for key in ("videoId", "language", "name")):
                return 409, {"error": {"errors": [{"reason": "captionExists"}]}}, {}
        name = s.name("c")
        s.captions[name] = {"snippet": {**snippet, "trackKind": "standard"}, "content": content}
        return 200, {"id": name}, {}

    def _put_captions(self, body: bytes) -> tuple[int, Any, dict[str, str]]:
        said, content = self._multipart(body)
        self.standin.captions[said["id"]]["content"] = content
        return 200, {"id": said["id"]}, {}

    def _post_thumbnails_set(self, body: bytes) -> tuple[int, Any, dict[str, str]]:
        self.standin.covers[self.query["videoId"]] = body
        return 200, {"items": []}, {}
