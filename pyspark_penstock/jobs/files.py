"""Access to files for reading checkpoints: the protocol, and its version for local files."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.local_paths import is_local, path_of


class Files(Protocol):
    """The access to files that reading a checkpoint needs."""

    def names(self, folder: str) -> list[str]:
        """The names in a folder; none if there is no such folder."""

    def text(self, path: str) -> str:
        """A whole file. Raises OSError."""


class LocalFiles:
    """Files of this machine, by path or ``file:`` address."""

    def names(self, folder: str) -> list[str]:
        """The names in a folder; none if there is no such folder."""
        path = local_path(folder)
        return sorted(child.name for child in path.iterdir()) if path.is_dir() else []

    def text(self, path: str) -> str:
        """A whole file. Raises OSError."""
        return local_path(path).read_text("utf-8")


def local_path(path: str) -> Path:
    """The path of a local file. Raises CheckpointError for an address elsewhere."""
    if not is_local(path):
        raise CheckpointError(
            f"{path!r} is not a path of this machine: only local checkpoints are read"
        )
    return path_of(path)
