"""bench/peers: which servers Penstock is compared with."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import peers
from bench.fetch_peers import RELEASES
from bench.peers import Peer, find_peers


def make_server(folder: Path, program: str, version: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    name = program.removesuffix("-server").capitalize()
    path = folder / program
    path.write_text(f"#!/bin/sh\necho {name} server v={version} sha=00000000:0 bits=64\n")
    path.chmod(0o755)


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH; it holds a redis-server."""
    folder = tmp_path / "path"
    make_server(folder, "redis-server", "7.0.15")
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_servers_on_path_are_peers(on_path: Path) -> None:
    assert find_peers([]) == [Peer("Redis 7.0.15", str(on_path / "redis-server"))]


def test_further_servers_are_found_in_a_folder_or_in_its_bin(on_path: Path, tmp_path: Path) -> None:
    make_server(tmp_path / "one", "valkey-server", "9.1.2")
    make_server(tmp_path / "two" / "bin", "redis-server", "8.0.6")
    peers = find_peers([tmp_path / "one", tmp_path / "two"])
    assert [peer.name for peer in peers] == ["Redis 7.0.15", "Valkey 9.1.2", "Redis 8.0.6"]
    assert peers[2].command == str(tmp_path / "two" / "bin" / "redis-server")


def test_a_version_is_a_peer_once(on_path: Path, tmp_path: Path) -> None:
    make_server(tmp_path / "same", "redis-server", "7.0.15")
    assert find_peers([tmp_path / "same"]) == find_peers([])


def test_a_folder_without_a_server_is_an_error(on_path: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="neither redis-server nor valkey-server is in"):
        find_peers([tmp_path])


def test_fetched_servers_are_peers_unless_folders_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "FETCHED", tmp_path)
    monkeypatch.delenv("PENSTOCK_PEERS", raising=False)
    assert peers.known_folders() == []
    release = RELEASES[-1]
    for server in release.servers:
        make_server(tmp_path / release.name / "bin", server, "8.6.3")
    assert peers.known_folders() == [tmp_path / release.name]
    monkeypatch.setenv("PENSTOCK_PEERS", "/a:/b")
    assert peers.known_folders() == [Path("/a"), Path("/b")]
