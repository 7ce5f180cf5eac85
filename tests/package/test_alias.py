"""penstock alias: what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.alias import make_alias


def test_a_folder_that_was_missing_is_made_with_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "bin" / "of" / "mine"
    assert make_alias([str(folder)], "penstock") == 0
    said = capsys.readouterr()
    assert said.out == f"{folder / 'redis-server'}\n"
    assert said.err == f"penstock: made the folder {folder}, which was not there\n"
    assert make_alias([str(folder)], "penstock") == 0
    assert capsys.readouterr().err == ""
