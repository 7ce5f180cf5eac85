"""A folder for a server, where its socket has a path that the system accepts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.testing import PenstockServer, StartFailed, folder


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for temporary files that is too deep for a socket."""
    path = tmp_path / ("d" * 60) / ("e" * 60)
    path.mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(path))
    return path


def test_it_is_in_the_usual_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/tmp")
    made = folder.make_folder()
    assert made.parent == Path("/tmp")
    made.rmdir()


def test_a_deep_place_is_not_taken(deep: Path) -> None:
    with PenstockServer() as server:
        assert server.call("PING") == b"PONG"
        assert not server.path.is_relative_to(deep)
        assert len(os.fsencode(server.path)) <= folder.LONGEST_SOCKET_PATH


def test_the_folder_of_the_user_is_next(
    deep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/var/tmp")
    monkeypatch.setattr(folder, "SHORT_PLACES", ())
    made = folder.make_folder()
    assert made.parent == Path("/var/tmp")
    made.rmdir()


def test_without_any_place_it_says_what_to_do(deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(folder, "SHORT_PLACES", ("/no/such/place",))
    with pytest.raises(StartFailed, match="Set TMPDIR to a folder with a short path"):
        folder.make_folder()
