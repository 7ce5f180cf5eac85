"""python -m server.check: what it shows, which files it calls broken, and what --fix cuts off."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from server.check.__main__ import main
from server.parts.persistence.files import Files
from server.parts.persistence.folder_lock import FolderLock
from server.parts.persistence.log_sums import line_for

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
    """Write an AOF with these increments into *folder*. Returns the path of its manifest."""
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


def summed(*chunks: bytes) -> bytes:
    """A file with *chunks*, each with its checksum."""
    text = b""
    for chunk in chunks:
        text += chunk + line_for(chunk, len(text), bool(text))
    return text


def test_all_damaged_places_of_a_log_are_named(tmp_path, look):
    log = summed(*[COMMANDS] * 6)
    size = len(log) // 6
    changed = bytearray(log)
    changed[size + len(COMMANDS) - 3] ^= 1  # in a value
    changed[4 * size + len(COMMANDS) - 3] ^= 1
    status, text = look("--fix", write_log(tmp_path, bytes(changed)))
    assert status == 1
    for start in (size, 4 * size):
        assert f"damaged: the bytes {start} to {start + len(COMMANDS)}" in text
    assert f"the checksums of {4 * len(COMMANDS)} bytes are right" in text
    assert "8 commands" in text
    assert look(write_log(tmp_path, log))[0] == 0


def test_the_damaged_part_of_a_snapshot_is_named(server, tmp_path, monkeypatch, look):
    monkeypatch.chdir(tmp_path)
    for number in range(30):
        server.send(b"SET", b"%d" % number, os.urandom(9000))
    server.send_line("SAVE")
    assert "checksums on the way are right" in look(tmp_path)[1]
    data = bytearray((tmp_path / "dump.rdb").read_bytes())
    data[100_000] ^= 1
    (tmp_path / "dump.rdb").write_bytes(data)
    status, text = look(tmp_path)
    assert status == 1
    (found,) = re.findall(r"damaged: the bytes (\d+) to (\d+)", text)
    assert int(found[0]) <= 100_000 < int(found[1]) < len(data) - 8


# ---------------------------------------------------------------------- what a start makes of it


def commands(*lines: str) -> bytes:
    """*lines* as an AOF has them."""
    return b"".join(
        b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in words)
        for words in (line.encode().split() for line in lines)
    )


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["FOO k"], "Unknown command 'FOO'"),
        (["SET k"], "wrong number of arguments for 'set' command"),
        (["MULTI", "SET k", "EXEC"], "wrong number of arguments for 'set' command"),
        (["SELECT 99", "SET k v"], "a database is used that is not here"),
    ],
)
def test_what_a_start_refuses_is_not_called_whole(tmp_path, look, lines, why):
    status, text = look(write_log(tmp_path, commands(*lines)))
    assert status == 1
    assert f"start: BROKEN: it is refused: {why}" in text


def test_a_log_that_loses_commands_is_not_called_whole(tmp_path, look):
    path = write_log(tmp_path, commands("SET k a", "INCR k", "MULTI", "INCR k", "EXEC"))
    status, text = look(path)
    assert status == 1
    assert "start: LOSES DATA: 2 commands fail when they are run again" in text
    assert "1 keys are loaded" in text
    assert text.count("after processing the command 'incr'") == 2


def test_the_databases_of_the_server_are_asked_for(tmp_path, look):
    path = write_log(tmp_path, commands("SELECT 20", "SET k v"))
    assert look(path)[0] == 1
    assert look("--databases", 32, path)[0] == 0


def test_a_torn_end_is_loaded_without_it_and_stays(tmp_path, look):
    path = write_log(tmp_path, COMMANDS + COMMANDS[:-3])
    status, text = look(path)
    assert status == 1
    assert "start: whole" in text
    assert (tmp_path / "a.1.incr.aof").read_bytes() == COMMANDS + COMMANDS[:-3]


def test_nothing_is_changed_by_a_check(folder, look):
    (folder / "appendonly.aof").write_bytes(COMMANDS)  # a start with appendonly yes would move it
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert look(folder)[0] == 0
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_folder_without_data_is_no_whole_one(tmp_path, look):
    """Once, nothing was said, and a check of an empty backup passed."""
    (tmp_path / "notes.txt").write_text("no data")
    status, text = look(tmp_path)
    assert status == 1
    assert "NO DATA: there is neither a snapshot nor an append-only file" in text


def test_an_empty_snapshot_is_broken(tmp_path, look):
    (tmp_path / "dump.rdb").write_bytes(b"")
    status, text = look(tmp_path)
    assert status == 1
    assert "BROKEN: too short to be an RDB" in text


def test_a_log_of_a_single_file_is_found_in_its_folder(tmp_path, look):
    (tmp_path / "appendonly.aof").write_bytes(COMMANDS)
    status, text = look(tmp_path)
    assert status == 0
    assert "appendonly.aof: log" in text
    assert "1 keys are loaded" in text


VECTOR_SET = bytes.fromhex(
    "524544495330303132fe00fb0200000 16b0176070176".replace(" ", "")
    + "81bde72da2bb1eb402000203020102500102000501610503"
    "2a557f02060201028001000000020002200200 02813f4d41b2406f775100".replace(" ", "")
)


def test_a_value_of_a_module_is_named_and_not_called_broken(tmp_path, look):
    (tmp_path / "dump.rdb").write_bytes(VECTOR_SET + b"\xff" + bytes(8))
    status, text = look(tmp_path)
    assert status == 1
    assert "NOT SERVED: the key b'v' is of a type that is not served: module value" in text
    assert "of vectorset" in text
    assert "BROKEN" not in text
