"""What every answer of the console has: its headers, and JSON as a body.

content-security-policy         what this server serves, and no other host; no script in a page
x-content-type-options          a browser does not guess what a file is
referrer-policy                 no other site learns of the page's address
cross-origin-opener-policy      no other page keeps a handle of this one's window
cross-origin-resource-policy    no other page embeds what is served here
cache-control                   what the API tells is kept nowhere
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from server.http.messages import PLAIN, Headers, Response

JSON = "application/json; charset=utf-8"

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
SAFE: Headers = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
)
NO_STORE: Headers = (*SAFE, ("cache-control", "no-store"))


def json_text(value: object) -> str:
    """*value* as JSON in one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def json_response(status: int, text: str, headers: Headers = ()) -> Response:
    """JSON that is made already."""
    return Response(status, text.encode(), JSON, (*NO_STORE, *headers))


def told(status: int, what: Mapping[str, Any], headers: Headers = ()) -> Response:
    """*what* as JSON."""
    return json_response(status, json_text(what) + "\n", headers)


def failed(status: int, why: str, headers: Headers = ()) -> Response:
    """An error of the API; *why* is for people."""
    return told(status, {"error": why}, headers)


def plain(status: int, text: str, headers: Headers = ()) -> Response:
    """A line of text."""
    return Response(status, text.encode() + b"\n", PLAIN, (*NO_STORE, *headers))


NOT_FOUND = plain(404, "not found")
