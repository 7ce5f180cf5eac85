"""Checksums of an AOF: where they stand, what damage they name, and what has none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from server.parts.persistence.log_commands import CommandPieces
from server.parts.persistence.log_reader import Damaged, LogReader, NoCommand, Torn
from server.parts.persistence.log_sums import line_for
from server.parts.persistence.snapshot_loader import LoadFailed
from tests.server.parts.persistence.fake_files import FULL
from tests.server.parts.persistence.log_site import Site
from tests.server.parts.persistence.test_log_loader import (
    BASE,
    FIRST,
    count,
    disk,
    loaded,
    snapshot,
)

LINE = re.compile(rb"#S[:+][0-9a-f]{30}\r\n")
SIZE = 35
A, B, C = (b"*3\r\n$3\r\nSET\r\n$1\r\n%b\r\n$1\r\nv\r\n" % key for key in (b"a", b"b", b"c"))
MULTI, EXEC = b"*1\r\n$5\r\nMULTI\r\n", b"*1\r\n$4\r\nEXEC\r\n"


def summed(*chunks: bytes, before: bytes = b"", follows: bool = False) -> bytes:
    """A file with *chunks*, each with its sum, after *before*, which has none."""
    text = before
    for chunk in chunks:
        text += chunk + line_for(chunk, len(text), follows)
        follows = True
    return text


def read(data: bytes, sums: bool = True) -> list[list[bytes]]:
    """All commands."""
    reader = LogReader(data, sums=sums)
    return list(iter(reader.next, None))


def keys(data: bytes, sums: bool = True) -> bytes:
    return b"".join(argv[1] for argv in read(data, sums) if len(argv) > 1)


# ---------------------------------------------------------------------- written


def test_each_write_ends_with_its_sum_and_goes_on_where_the_last_ended() -> None:
    site = Site(sums=True)
    for _ in range(3):
        site.add()
        site.log.write()
    marks = [line[2:3] for line in LINE.findall(site.text)]
    assert marks == [b":", b"+", b"+"]
    assert site.files.steps.count("write") == 3
    reader = LogReader(site.text)
    while reader.next():
        pass
    assert reader.summed == len(site.text) - 3 * SIZE
    assert site.log.offset == site.log.file_size == len(site.text)


def test_a_long_turn_has_sums_a_megabyte_apart_between_units() -> None:
    site = Site(sums=True)
    for _ in range(40):
        site.log.add_all([(0, [b"SET", b"k", bytes(60_000)]), (0, [b"INCR", b"n"])])
    site.log.write()
    sizes = [int(line[3:11], 16) for line in LINE.findall(site.text)]
    assert len(sizes) == 3
    assert max(sizes) < (1 << 20) + 61_000
    assert site.log.offset == len(site.text)
    assert len(read(site.text)) == 1 + 40 * 4


def test_a_repeated_write_has_the_sum_of_its_place() -> None:
    site = Site(sums=True)
    site.add()
    site.log.write()
    site.files.short_writes = True
    site.files.plan = lambda number, name: FULL if name in {"write", "truncate"} else None
    site.add()
    site.log.write()
    site.mend()
    site.add()
    site.log.write()
    assert len(read(site.text)) == 4
    assert len(LINE.findall(site.text)) == 3
    assert site.log.offset == len(site.text)


def test_sums_begin_anew_after_a_time_without_them() -> None:
    site = Site(sums=True)
    for sums in (True, False, True, True):
        site.config.aof_checksums = sums
        site.add()
        site.log.write()
    assert [line[2:3] for line in LINE.findall(site.text)] == [b":", b":", b"+"]
    assert len(read(site.text)) == 5


def test_a_base_of_commands_has_a_sum_behind_each_piece() -> None:
    machine = loaded(disk(base=snapshot()), save=[])
    for number in range(30):
        machine.run([b"SET", b"%d" % number, bytes(9000)])
    text = b"".join(CommandPieces(machine.state.databases, sums=True))
    assert [line[2:3] for line in LINE.findall(text)] == [b":", b"+", b"+", b"+"]
    assert len(read(text)) == 31


# ---------------------------------------------------------------------- read


def test_what_has_no_sums_is_read_as_before() -> None:
    assert keys(A + B) == keys(A + summed(B, before=A)[len(A) :]) == b"ab"
    assert keys(summed(A) + B + C) == b"abc"  # Redis has appended
    assert keys(summed(A) + summed(C, before=summed(A) + B)[len(summed(A)) :]) == b"abc"


def test_nothing_of_what_is_damaged_is_given() -> None:
    data = summed(A, MULTI + B + C + EXEC).replace(b"$1\r\nc", b"$1\r\nd")
    reader = LogReader(data)
    assert reader.next() is not None
    with pytest.raises(Damaged) as damaged:
        reader.next()
    assert (damaged.value.start, damaged.value.end) == (len(summed(A)), len(data) - SIZE)


@pytest.mark.parametrize("at", [len(A) - 3, len(A) - 6, 1, 5, 9])
def test_damage_that_looks_torn_or_like_no_command_is_damage_if_a_sum_is_behind_it(at: int) -> None:
    """A longer size of a word made the end of the file look torn: it would have been cut off."""
    for data in (summed(A), summed(A, B), summed(B, A), summed(A + B)):
        start = data.index(A)
        for digit in b"9*$#":
            changed = bytearray(data)
            changed[start + at] = digit
            if changed != data:
                with pytest.raises(Damaged):
                    read(bytes(changed))


def test_a_torn_end_is_still_torn_and_not_damaged() -> None:
    """What was read before a tear is read as without sums."""
    data = summed(A, B + C)
    for cut in range(1, len(data)):
        whole = summed(A) if cut >= len(summed(A)) else b""
        expected = sum(cut >= end for end in (len(A), len(whole + B), len(whole + B + C)))
        reader = LogReader(data[:cut])
        given = 0
        try:
            while reader.next():
                given += 1
        except Torn:
            assert reader.position < cut
        if whole or cut < len(A) + SIZE:
            assert given == (expected if whole else cut >= len(A)), cut


def test_a_lost_chunk_is_damage_where_the_next_one_follows_it() -> None:
    data = summed(A, B, C)
    size = len(A) + SIZE
    with pytest.raises(Damaged):
        read(data[:size] + data[2 * size :])  # wrong place
    with pytest.raises(Damaged):
        read(data[:size] + data[size:].replace(b"#S", b"#R", 1))  # its sum is a mere comment
    with pytest.raises(Damaged):
        read(b"#S:nothing that has a sum is this\r\n" + data)


def test_a_value_that_holds_a_file_with_sums_is_a_value() -> None:
    inner = summed(A, B)
    outer = b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$%d\r\n%b\r\n" % (len(inner), inner)
    assert keys(outer) == keys(summed(outer)) == b"x"
    with pytest.raises(Torn):
        read(outer[:-3])


def test_without_sums_asked_for_lines_are_comments() -> None:
    data = summed(A, B).replace(b"$1\r\nb", b"$1\r\nc")
    assert keys(data, sums=False) == b"ac"
    with pytest.raises(NoCommand):
        read(data.replace(b"*3", b"+3"), sums=False)


def test_after_damage_it_is_resumed_where_a_sum_says_so() -> None:
    data = summed(A, B, C, A).replace(b"$1\r\nb", b"$1\r\nx")
    reader = LogReader(data)
    reader.next()
    with pytest.raises(Damaged) as damaged:
        reader.next()
    assert reader.resume(damaged.value)
    assert [reader.next(), reader.next(), reader.next()] == [
        [b"SET", b"c", b"v"], [b"SET", b"a", b"v"], None,
    ]  # fmt: skip
    assert not LogReader(A).resume(Damaged(0, 5))


def test_no_single_bit_of_a_line_can_be_flipped_unnoticed_but_in_its_letter() -> None:
    """The check is linear: what holds for one line holds for all."""
    data = summed(A)
    unnoticed = []
    for bit in range(8 * len(A), 8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            assert keys(bytes(changed)) == b"a"
        except (Damaged, NoCommand):
            continue
        unnoticed.append(bit // 8 - len(A))
    assert unnoticed == [1] * 8  # the S of the last line: any other comment is skipped


# ---------------------------------------------------------------------- loaded


def test_a_start_names_the_file_and_the_bytes_and_runs_nothing_of_them() -> None:
    before = summed(count(1))
    data = summed(count(1), MULTI + count(2, 3) + EXEC)
    files = disk(base=snapshot(0), first=data.replace(b"$1\r\n3", b"$1\r\n4"))
    with pytest.raises(LoadFailed) as refusal:
        loaded(files)
    text = f"{FIRST} is damaged between the offsets {len(before)} and {len(data) - SIZE}"
    assert text in str(refusal.value)
    assert loaded(files, aof_checksums=False).numbers() == [0, 1, 2, 4]


def test_what_a_server_has_written_is_summed_and_torn_ends_are_cut() -> None:
    files = disk(base=snapshot(0))
    machine = loaded(files)
    machine.count(3)
    machine.end()
    path = Path("appendonlydir/appendonly.aof.1.incr.aof")
    data = files.get(path)
    assert len(LINE.findall(data)) == 3
    files.put(path, data[:-SIZE])
    assert loaded(files).numbers() == [0, 1, 2, 3]
    files.put(path, data[: -SIZE - 3])
    machine = loaded(files)
    assert machine.numbers() == [0, 1, 2]
    machine.count()
    machine.end()
    assert loaded(files).numbers() == [0, 1, 2, 3]
    assert files.get(path).count(b"#S:") == 2


@pytest.mark.parametrize("before", [b"", summed(count(1))], ids=["alone", "behind a sum"])
@pytest.mark.parametrize("torn", [0, 1, 2, SIZE - 1])
def test_a_start_sums_up_what_a_tear_has_left_without_its_sum(before: bytes, torn: int) -> None:
    """Once it stayed without for good: a bit that flipped later was loaded as another value."""
    line = line_for(count(2), len(before), before != b"")
    files = disk(base=snapshot(0), first=before + count(2) + line[:torn])
    shown = loaded(files).numbers()
    left = next(files.after_power_cut())
    assert left.get(FIRST) == before + count(2) + line
    assert loaded(left, aof_load_truncated=False).numbers() == shown
    assert left.get(FIRST) == before + count(2) + line
    left.put(FIRST, (before + count(2)).replace(b"$1\r\n2", b"$1\r\n3") + line)
    with pytest.raises(LoadFailed):
        loaded(left)


def test_a_start_with_a_full_disk_leaves_what_has_no_sum_without_it() -> None:
    for short in (False, True):
        files = disk(base=snapshot(0), first=count(1))
        files.short_writes = short
        files.plan = lambda _number, name: FULL if name == "write" else None
        assert loaded(files).numbers() == [0, 1]
        assert files.get(FIRST) == count(1)


def test_without_sums_asked_for_a_start_adds_none() -> None:
    files = disk(base=snapshot(0), first=count(1))
    loaded(files, aof_checksums=False)
    assert files.get(FIRST) == count(1)


def test_only_an_increment_is_summed_up_and_only_by_a_start() -> None:
    """A base is not appended to, and while a server runs its log is not only the loader's."""
    files = disk(base=count(0))
    machine = loaded(files)
    assert files.get(BASE) == count(0)
    machine.config.aof_checksums = False
    machine.count(1)
    machine.config.aof_checksums = True
    before = files.get(FIRST)
    machine.persistence.reload_log(machine.dispatcher.replaying.begin)
    assert files.get(FIRST) == before
