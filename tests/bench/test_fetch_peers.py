"""bench/fetch_peers: it fetches no server twice, and explains a failure in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import fetch_peers
from bench.fetch_peers import RELEASES, Release


def make_tool(folder: Path, name: str, script: str = "") -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def put(release: Release, folder: Path) -> None:
    """Programs that bear the names of the servers of *release*."""
    programs = folder / release.name / "bin"
    programs.mkdir(parents=True)
    for name in release.servers:
        make_tool(programs, name)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the only one on PATH."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_servers_that_are_there_are_not_fetched_again(tools: Path, tmp_path: Path) -> None:
    for release in RELEASES:
        put(release, tmp_path)
    assert fetch_peers.main(tmp_path) == 0


def test_a_release_that_cannot_be_fetched_leaves_the_others(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there, missing = RELEASES
    put(there, tmp_path)
    assert fetch_peers.main(tmp_path) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines] == [f"{missing.title} not fetched"]
    assert there.is_in(tmp_path / there.name)


def test_missing_apt_tools_are_reported(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fetch_peers.main(tmp_path / "peers") == 1
    assert capsys.readouterr().err.endswith("there is no apt-get nor dpkg nor dpkg-deb\n")
    assert not (tmp_path / "peers").exists()


def test_a_mirror_that_does_not_answer_is_named(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_tool(tools, "dpkg", "echo amd64")
    make_tool(tools, "dpkg-deb", "exit 1")
    answers = 'case "$*" in *indextargets*) echo file:/nowhere; exit;; esac'
    make_tool(tools, "apt-get", f"{answers}\necho 'E: cannot reach file:/nowhere' >&2\nexit 100")
    assert fetch_peers.main(tmp_path / "peers") == 1
    assert capsys.readouterr().err.endswith("E: cannot reach file:/nowhere\n")


def test_a_missing_mirror_is_reported(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("apt-get", "dpkg", "dpkg-deb"):
        make_tool(tools, name)
    assert fetch_peers.main(tmp_path / "peers") == 1
    assert capsys.readouterr().err.endswith("apt has no mirror\n")
