"""Paths and ``file:`` addresses of this machine."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlparse


def is_local(path: str) -> bool:
    """Whether *path* looks like a path of this machine."""
    return urlparse(path).scheme in {"", "file"}


def path_of(address: str) -> Path:
    """The path of a local file, given as a path or a ``file:`` address."""
    return Path(unquote(urlparse(address).path) if address.startswith("file:") else address)
