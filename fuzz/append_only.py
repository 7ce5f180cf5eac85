"""Feed hostile bytes to the readers of an append-only file and of its manifest.

``python -m fuzz.append_only -max_total_time=60`` does so for a minute.

Whatever the bytes are, the reader gives whole commands and stops where the rest is torn, is no
command, or has another checksum. Reading what is before that must give as many commands, and all of
it is read with a right checksum after it. A manifest that can be parsed must mean the same when it
is written out again. Any exception but the documented ones is a bug.
"""

from __future__ import annotations

from fuzz import engine

with engine.instrument_imports(include=["server.parts.persistence"]):
    from server.parts.persistence import manifest
    from server.parts.persistence.log_reader import Damaged, LogReader, NoCommand, Torn
    from server.parts.persistence.log_sums import line_for


def read_log(data: bytes) -> None:
    """Read *data* to its end or to its first fault; then read the valid part again."""
    reader = LogReader(data)
    commands = 0
    try:
        while reader.next() is not None:
            commands += 1
        assert reader.position == len(data)
    except (Torn, NoCommand):
        assert reader.position < len(data)
    except Damaged as damage:
        read_on(reader, damage, len(data))
        return
    whole = data[: reader.position]
    again = LogReader(whole)
    while again.next() is not None:
        commands -= 1
    assert commands == 0
    assert again.position == reader.position
    if b"#S" not in whole:
        line = line_for(whole, 0, follows=False)
        summed = LogReader(whole + line)
        while summed.next() is not None:
            pass
        assert summed.position == len(whole) + len(line)


def read_on(reader: LogReader, damage: Damaged, size: int) -> None:
    """Resume after *damage*, again and again: each time further on."""
    at = -1
    while True:
        assert 0 <= damage.start < damage.end <= size
        if not reader.resume(damage):
            return
        assert reader.position > at
        at = reader.position
        try:
            while reader.next() is not None:
                pass
        except (Torn, NoCommand):
            return
        except Damaged as more:
            damage = more
        else:
            return


def read_manifest(data: bytes) -> None:
    """Parse *data*; a parsed manifest must be the same after it was written out and read again."""
    try:
        found = manifest.parse(data)
    except manifest.BadManifest:
        return
    assert manifest.parse(found.encode()).files == found.files


def test_one(data: bytes) -> None:
    """The fuzzer's entry: any exception is a finding."""
    read_log(data)
    read_manifest(data)
    read_manifest(b"file a.1.incr.aof seq 1 type i\n" + data + b"\n")


SEEDS = (
    b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n#TS:1700000000\r\n*1\r\n$5\r\nMULTI\r\n",
    b"*1\r\n$4\r\nPING\r\n" + line_for(b"*1\r\n$4\r\nPING\r\n", 0, follows=False),
    b'file a.1.base.rdb seq 1 type b\nfile "b 2.incr.aof" seq 2 type i startoffset 3\n',
)

if __name__ == "__main__":
    engine.run(test_one, "append_only", SEEDS)
