"""Fetching the peers does nothing twice, and says in one line why it cannot be done."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import fetch_peers


def a_tool(folder: Path, name: str, script: str = "") -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH, empty."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_what_is_there_is_not_fetched_again(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in fetch_peers.SERVERS:
        a_tool(tmp_path / "bin", name)
    assert fetch_peers.main(tmp_path) == 0


def test_without_apt_it_says_so(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fetch_peers.main(tmp_path / "peers") == 1
    assert capsys.readouterr().err.endswith("there is no apt-get nor dpkg nor dpkg-deb\n")
    assert not (tmp_path / "peers").exists()


def test_a_mirror_that_does_not_answer_is_named(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_tool(tools, "dpkg", "echo amd64")
    a_tool(tools, "dpkg-deb", "exit 1")
    answers = 'case "$*" in *indextargets*) echo file:/nowhere; exit;; esac'
    a_tool(tools, "apt-get", f"{answers}\necho 'E: cannot reach file:/nowhere' >&2\nexit 100")
    assert fetch_peers.main(tmp_path / "peers") == 1
    assert capsys.readouterr().err.endswith("E: cannot reach file:/nowhere\n")


def test_without_a_mirror_it_says_so(
    tools: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("apt-get", "dpkg", "dpkg-deb"):
        a_tool(tools, name)
    assert fetch_peers.main(tmp_path / "peers") == 1
    assert capsys.readouterr().err.endswith("apt has no mirror\n")
