"""The files of the page: all are read once, and nothing else is ever opened.

    /console/          static/index.html
    /console/app.js    static/app.js

A path is looked up among the files that were found. So there is no path out of the folder, however
it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from server.console.answers import NOT_FOUND, SAFE
from server.http.messages import Request, Response

FOLDER = Path(__file__).with_name("static")
INDEX = "index.html"

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}


class File(NamedTuple):
    """One file: what it holds, its content type, and the tag that changes with it."""

    data: bytes
    kind: str
    tag: str


def read(folder: Path) -> Mapping[str, File]:
    """All files of *folder*, by their paths in it. Those of other kinds are left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        kind = KINDS.get(path.suffix)
        if kind is not None and path.is_file():
            data = path.read_bytes()
            tag = f'"{sha256(data).hexdigest()[:32]}"'
            found[path.relative_to(folder).as_posix()] = File(data, kind, tag)
    return found


class StaticFiles:
    """Answers requests for files of *folder*."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = read(folder)

    def answer(self, path: str, request: Request) -> Response:
        """The file at *path*, or that it has not changed, or that there is none."""
        file = self._files.get(path or INDEX)
        if file is None:
            return NOT_FOUND
        headers = (*SAFE, ("cache-control", "no-cache"), ("etag", file.tag))
        if file.tag in request.headers.get("if-none-match", ""):
            return Response(304, b"", file.kind, headers)
        return Response(200, file.data, file.kind, headers)
