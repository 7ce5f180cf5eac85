"""Loading an AOF: in order, to the last whole command or transaction, or not at all."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from server.parts.persistence.log_sums import line_for
from server.parts.persistence.snapshot_loader import LoadFailed
from storage.snapshot.snapshot_writer import SnapshotWriter
from tests.server.parts.persistence.fake_files import FakeFiles, Plan, PowerCut
from tests.server.parts.persistence.machine import COUNT, Machine

FOLDER = Path("appendonlydir")
MANIFEST = FOLDER / "appendonly.aof.manifest"
BASE = FOLDER / "appendonly.aof.1.base.rdb"
FIRST = FOLDER / "appendonly.aof.1.incr.aof"
SECOND = FOLDER / "appendonly.aof.2.incr.aof"

BASE_LINE = b"file appendonly.aof.1.base.rdb seq 1 type b\n"
FIRST_LINE = b"file appendonly.aof.1.incr.aof seq 1 type i\n"
SECOND_LINE = b"file appendonly.aof.2.incr.aof seq 2 type i\n"


def encoded(line: str) -> bytes:
    words = line.encode().split()
    return b"*%d\r\n" % len(words) + b"".join(
        b"$%d\r\n%b\r\n" % (len(word), word) for word in words
    )


# Each unit is loaded as a whole or not at all.
UNITS = [
    encoded("SELECT 0") + encoded("SET a 1"),
    encoded("RPUSH b x y"),
    b"#TS:1700000000\r\n" + encoded("XADD c 1-1 field value"),
    encoded("MULTI") + encoded("SET d 1") + encoded("XADD c 2-1 f v") + encoded("EXEC"),
    encoded("SELECT 3") + encoded("SET e \0"),
    encoded("MULTI")
    + encoded("SET f 1")
    + encoded("SELECT 5")
    + encoded("SET g 1")
    + encoded("EXEC"),
    encoded("SET h 1"),
]
KEYS = [0, 1, 2, 3, 4, 5, 7, 8]  # how many keys there are after 0, 1, 2 .. units


def snapshot(*numbers: int) -> bytes:
    """A snapshot whose list ``count`` has *numbers*."""
    machine = Machine(FakeFiles(), appendonly=False)
    for number in numbers:
        machine.run([b"RPUSH", COUNT, b"%d" % number])
    return b"".join(SnapshotWriter(machine.state.databases, {b"aof-base": b"1"}))


def count(*numbers: int) -> bytes:
    return encoded("SELECT 0") + b"".join(encoded(f"RPUSH count {number}") for number in numbers)


def disk(**contents: bytes) -> FakeFiles:
    """A disk with the given files of an AOF, and a manifest that names them in order."""
    files = FakeFiles()
    files.put(FOLDER, b"")
    text = b""
    for name, path, line in (
        ("base", BASE, BASE_LINE), ("first", FIRST, FIRST_LINE), ("second", SECOND, SECOND_LINE)
    ):  # fmt: skip
        if name in contents:
            files.put(path, contents[name])
            text += line
    files.put(MANIFEST, contents.get("manifest", text))
    return files


def loaded(files: FakeFiles, **parameters: object) -> Machine:
    machine = Machine(files, **parameters)
    machine.start()
    return machine


def refusal(files: FakeFiles, **parameters: object) -> str:
    with pytest.raises(LoadFailed) as error:
        loaded(files, **parameters)
    return str(error.value)


def keys(machine: Machine) -> int:
    return sum(len(db) for db in machine.state.databases)


def ends() -> list[int]:
    """The offset 0, and the offset at which each unit ends."""
    return [sum(map(len, UNITS[:n])) for n in range(len(UNITS) + 1)]


# ---------------------------------------------------------------------- in order


def test_key_load_delay_waits_after_each_command(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    loaded(disk(first=count(1, 2, 3)), key_load_delay=2000)
    assert slept == [0.002] * 4  # SELECT is the first


def test_the_base_comes_first_then_the_increments() -> None:
    machine = loaded(disk(base=snapshot(0, 1), first=count(2, 3), second=count(4)))
    assert machine.numbers() == [0, 1, 2, 3, 4]


def test_a_base_may_be_commands_or_a_snapshot_with_commands_behind_it() -> None:
    assert loaded(disk(base=count(0, 1), first=count(2))).numbers() == [0, 1, 2]
    assert loaded(disk(base=snapshot(0, 1) + count(2), first=count(3))).numbers() == [0, 1, 2, 3]


def test_a_log_without_a_base_begins_with_nothing() -> None:
    assert loaded(disk(first=count(0), second=count(1))).numbers() == [0, 1]


def test_each_file_begins_in_database_0() -> None:
    first = encoded("SELECT 9") + encoded("SET a 1")
    machine = loaded(disk(base=snapshot(), first=first, second=encoded("SET b 1")))
    assert [len(machine.state.databases[index]) for index in (9, 0)] == [1, 1]


def test_history_files_are_not_loaded_but_removed() -> None:
    files = disk(base=snapshot(0), first=count(1), manifest=BASE_LINE + b"%b%b" % (
        FIRST_LINE.replace(b"type i", b"type h"), SECOND_LINE))  # fmt: skip
    files.put(SECOND, count(1, 2))
    machine = loaded(files)
    assert machine.numbers() == [0, 1, 2]
    machine.tick()
    assert FIRST not in files.names
    assert b"type h" not in files.get(MANIFEST)


def test_writes_after_loading_are_appended() -> None:
    files = disk(base=snapshot(0), first=count(1))
    machine = loaded(files, aof_checksums=False)
    machine.count(2)
    assert files.get(FIRST) == count(1) + count(2, 3)
    assert loaded(files.after_kill()).numbers() == [0, 1, 2, 3]


# ---------------------------------------------------------------------- torn ends


@pytest.mark.parametrize("in_file", ["first", "second"])
def test_a_log_cut_at_any_byte_is_loaded_up_to_the_last_whole_unit(in_file: str) -> None:
    before = {} if in_file == "first" else {"first": b""}
    data = b"".join(UNITS)
    for cut in range(len(data) + 1):
        files = disk(base=snapshot(), **before, **{in_file: data[:cut]})
        machine = loaded(files)
        whole = max(n for n, end in enumerate(ends()) if end <= cut)
        assert keys(machine) == KEYS[whole], cut
        again = loaded(next(files.after_power_cut()), aof_load_truncated=False)
        assert keys(again) == KEYS[whole], cut


def test_a_log_cut_within_a_command_is_refused_with_aof_load_truncated_no() -> None:
    data = b"".join(UNITS)
    commands_end = {sum(map(len, UNITS[:n])) for n in range(len(UNITS) + 1)}
    commands_end |= {len(encoded("SELECT 0")), ends()[2] + 16, ends()[4] + len(encoded("SELECT 3"))}
    for cut in range(len(data) + 1):
        files = disk(base=snapshot(), first=data[:cut])
        if cut in commands_end:
            loaded(files, aof_load_truncated=False)
        else:
            assert "Unexpected end of file" in refusal(files, aof_load_truncated=False)
            assert files.get(FIRST) == data[:cut]


def test_a_transaction_without_its_end_is_cut_off_as_a_whole() -> None:
    files = disk(base=snapshot(), first=count(0) + encoded("MULTI") + encoded("SET a 1"))
    machine = loaded(files)
    assert keys(machine) == 1
    assert files.get(FIRST) == count(0) + line_for(count(0), 0, False)


def test_truncation_is_reported_in_the_log_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    loaded(disk(base=snapshot(), first=count(0) + b"*3\r\n$3\r\nSET"))
    messages = [
        record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING
    ]
    assert messages == [
        f"!!! Warning: short read while loading the AOF file {FIRST}!!!",
        f"!!! Truncating the AOF {FIRST} at offset {len(count(0))} !!!",
        f"AOF {FIRST} loaded anyway because aof-load-truncated is enabled: 11 bytes were cut off",
    ]


def test_only_the_last_file_that_is_not_empty_may_be_torn() -> None:
    torn = count(0)[:-1]
    assert "there are files after it" in refusal(disk(base=snapshot(), first=torn, second=count(1)))
    assert loaded(disk(base=snapshot(), first=torn, second=b"")).numbers() == []


def test_a_torn_base_is_refused_if_a_file_follows_it() -> None:
    torn = count(0, 1)[:-1]
    assert "there are files after it" in refusal(disk(base=torn, first=b""))
    assert loaded(disk(base=torn)).numbers() == [0]  # one file, as before Redis 7


# ---------------------------------------------------------------------- damage


@pytest.mark.parametrize("name", ["base", "first", "second"])
def test_a_missing_file_is_refused_by_its_name(name: str) -> None:
    files = disk(base=snapshot(), first=b"", second=b"")
    path = {"base": BASE, "first": FIRST, "second": SECOND}[name]
    del files.names[path]
    assert f"the AOF file {path.name} length. stat: " in refusal(files)


def test_damage_is_refused_with_its_offset_and_nothing_is_cut_off() -> None:
    data = count(0) + b"garbage\r\n" + count(1)
    files = disk(base=snapshot(), first=data)
    assert f"at offset {len(count(0))}" in refusal(files)
    assert files.get(FIRST) == data


def test_a_torn_base_that_is_a_snapshot_is_refused() -> None:
    assert refusal(disk(base=snapshot(0, 1)[:-20], first=b""))


@pytest.mark.parametrize("line", ["NOSUCH a b", "SET a", "JSON.SET k $ 1"])
def test_a_command_that_cannot_run_is_refused(line: str) -> None:
    assert str(FIRST) in refusal(disk(base=snapshot(), first=encoded(line)))


def test_a_broken_manifest_is_refused() -> None:
    assert "manifest" in refusal(disk(base=snapshot(), manifest=b"file a"))


# ---------------------------------------------------------------------- logs of Redis 6 and older


OLD = Path("appendonly.aof")


def test_a_single_old_file_becomes_the_base() -> None:
    files = FakeFiles()
    files.put(OLD, snapshot(0, 1) + count(2))
    machine = loaded(files, aof_checksums=False)
    machine.count()
    assert machine.numbers() == [0, 1, 2, 3]
    assert OLD not in files.names
    assert files.get(MANIFEST) == (
        b"file appendonly.aof seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n"
    )
    assert loaded(files.after_kill()).numbers() == [0, 1, 2, 3]


def fails_at(step: int) -> Plan:
    return lambda number, name: PowerCut() if number == step else None


def test_making_an_old_file_the_base_survives_a_power_cut_at_any_step() -> None:
    files = FakeFiles()
    files.put(OLD, count(0, 1, 2))
    loaded(files)
    for step in range(1, len(files.steps) + 1):
        cut = FakeFiles(fails_at(step))
        cut.put(OLD, count(0, 1, 2))
        with pytest.raises(PowerCut):
            loaded(cut)
        for disk_left in (cut.after_kill(), *cut.after_power_cut()):
            assert loaded(disk_left).numbers() == [0, 1, 2]


def test_an_old_file_beside_a_log_is_left_alone() -> None:
    files = disk(base=snapshot(0))
    files.put(OLD, count(7))
    assert loaded(files).numbers() == [0]
    assert files.get(OLD) == count(7)


def test_an_old_file_is_left_alone_if_the_log_is_switched_on_later() -> None:
    files = FakeFiles()
    files.put(OLD, count(7))
    machine = loaded(files, appendonly=False)
    machine.switch(on=True)
    assert files.get(OLD) == count(7)
