"""bench/fetch_peers: it fetches no server twice, and explains a failure in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import fetch_peers


def make_tool(folder: Path, name: str, script: str = "") -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the only one on PATH."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_servers_that_are_there_are_not_fetched_again(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in fetch_peers.SERVERS:
        make_tool(tmp_path / "bin", name)
    assert fetch_peers.main(tmp_path) == 0


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
