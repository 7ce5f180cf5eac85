"""python -m server.check: what it shows, which files it calls broken, and what --fix cuts off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from server.check.__main__ import main
from server.persistence.files import Files
from server.persistence.folder_lock import FolderLock

COMMANDS = b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n"
MULTI = b"*1\r\n$5\r\nMULTI\r\n"


def refuse(question: str) -> str:
    """The answer where the tool may not ask."""
    raise AssertionError(f"asked: {question}")


@pytest.fixture
def folder(server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a snapshot that has a key of each type."""
    monkeypatch.chdir(tmp_path)
    for line in (
        "SET text hello PX 10000", "RPUSH jobs a b c", "XADD orders 1-1 item kettle",
        "XADD orders 2-1 item pan", "XGROUP CREATE orders shipping 0",
        "XREADGROUP GROUP shipping ann COUNT 1 STREAMS orders >", "SAVE",
    ):  # fmt: skip
        server.send_line(line)
    return tmp_path


@pytest.fixture
def look(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs the tool. Returns its exit status and its output."""

    def run(*words: object, ask: Callable[[str], str] = refuse) -> tuple[int, str]:
        status = main([str(word) for word in words], ask=ask)
        return status, "".join(capsys.readouterr())

    return run


def test_a_whole_snapshot_is_summarized(folder, look):
    status, text = look(folder)
    assert status == 0
    assert "dump.rdb: snapshot" in text
    assert "whole" in text
    assert "database 0: 3 keys, 1 of them expire" in text
    assert "stream 0:orders: 2 entries, 1-1 .. 2-1" in text
    assert "group shipping: delivered up to 1-1, 1 consumers, 1 pending" in text


def test_a_truncated_snapshot_is_broken(folder, look):
    path = folder / "dump.rdb"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    status, text = look(path)
    assert status == 1
    assert "BROKEN: the bytes end too soon" in text


def test_a_flipped_bit_breaks_the_checksum(folder, look):
    path = folder / "dump.rdb"
    whole = bytearray(path.read_bytes())
    whole[whole.index(b"hello")] ^= 1
    path.write_bytes(whole)
    status, text = look(path)
    assert status == 1
    assert "checksum" in text


def write_log(folder: Path, *increments: bytes) -> Path:
    """Write a log with these increments into *folder*. Returns the path of its manifest."""
    lines = []
    for seq, data in enumerate(increments, 1):
        (folder / f"a.{seq}.incr.aof").write_bytes(data)
        lines.append(f"file a.{seq}.incr.aof seq {seq} type i\n")
    path = folder / "a.manifest"
    path.write_text("".join(lines))
    return path


def test_commands_are_counted(tmp_path, look):
    status, text = look(write_log(tmp_path, COMMANDS, COMMANDS))
    assert status == 0
    assert text.count("2 commands: 'SELECT' 1, 'SET' 1") == 2


@pytest.mark.parametrize("tail", [COMMANDS[:-3], MULTI, MULTI + COMMANDS, MULTI + COMMANDS[:9]])
def test_fix_truncates_a_torn_end_after_asking(tmp_path, look, tail):
    path = write_log(tmp_path, COMMANDS + tail)
    assert look(path)[0] == 1
    assert look("--fix", path, ask=lambda _: "no")[0] == 1
    questions: list[str] = []

    def agree(question: str) -> str:
        questions.append(question)
        return "y"

    status, _ = look("--fix", path, ask=agree)
    assert status == 0
    log = tmp_path / "a.1.incr.aof"
    whole = COMMANDS if tail.startswith(MULTI) else COMMANDS + COMMANDS[: COMMANDS.index(b"*3")]
    assert log.read_bytes() == whole
    assert f"Cut the last {len(COMMANDS + tail) - len(whole)} of" in questions[0]
    assert look(path)[0] == 0


def test_fix_refuses_the_log_of_a_running_server(tmp_path, look):
    log = tmp_path / "appendonlydir"
    log.mkdir()
    path = write_log(log, COMMANDS[:-3])
    server = FolderLock(Files())
    server.take(tmp_path)
    for named in (path, log, tmp_path):
        status, text = look("--fix", named)
        assert status == 2
        assert f"{tmp_path} is in use by another Penstock server" in text
    assert look(path)[0] == 1
    server.release()
    assert look("--fix", tmp_path, ask=lambda _: "y")[0] == 0
    server.take(tmp_path)  # the tool has released the lock


def test_fix_does_not_truncate_a_file_before_the_last_one(tmp_path, look):
    status, text = look("--fix", write_log(tmp_path, COMMANDS[:-3], COMMANDS))
    assert status == 1
    assert "the last command is not complete" in text


def test_fix_does_not_truncate_at_bytes_that_are_no_command(tmp_path, look):
    status, text = look("--fix", write_log(tmp_path, COMMANDS + b"hello\r\n" + COMMANDS))
    assert status == 1
    assert f"what follows is no command (offset {len(COMMANDS)} of" in text


def test_commands_may_follow_a_snapshot_in_one_file(folder, look):
    path = folder / "both.aof"
    path.write_bytes((folder / "dump.rdb").read_bytes() + COMMANDS)
    status, text = look(path)
    assert status == 0
    assert "both.aof: snapshot" in text
    assert "both.aof: log" in text


def test_a_manifest_that_names_a_missing_file_is_broken(tmp_path, look):
    (tmp_path / "a.manifest").write_text("file a.1.incr.aof seq 1 type i\n")
    status, text = look(tmp_path)
    assert status == 1
    assert "it names what does not exist: a.1.incr.aof" in text


def test_a_missing_path_is_an_error(tmp_path, look):
    status, text = look(tmp_path / "nothing")
    assert status == 2
    assert "No such file or directory" in text


def test_key_names_are_escaped_and_shortened(server, tmp_path, monkeypatch, look):
    monkeypatch.chdir(tmp_path)
    server.send(b"SET", b"\x1b[31m\xff" + b"k" * 100, "v")
    server.send_line("SAVE")
    text = look(tmp_path)[1]
    assert "\x1b" not in text
    assert "\\x1b[31m\\\\xff" in text
    assert "k" * 100 not in text
