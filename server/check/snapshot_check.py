"""Checking an RDB: every value is read and checked, and none is kept."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from server.check.findings import Contents, Finding
from server.parts.persistence.files import Files
from server.process.progress_bar import ProgressBar
from storage.errors import StorageError
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.rdb.errors import UnknownType
from storage.side_data.side_data import side_data_in
from storage.snapshot import part_sums
from storage.snapshot.snapshot_reader import SnapshotReader

KEYS_A_LOOK = 64  # between two looks at the clock
MOST_NAMED = 20  # damaged parts


def check_snapshot(path: Path, files: Files) -> tuple[Finding, int]:
    """The result, and the offset after the snapshot (the size, if the snapshot is damaged)."""
    data = files.read(path)
    contents = Contents()
    found = Finding(path, "snapshot", len(data), contents=contents)
    try:
        reader = SnapshotReader(data)
    except StorageError as error:
        found.problem, found.offset = str(error), 0
        return found, len(data)
    end = len(data)
    bar = ProgressBar(f"Checking {path.name!a}", len(data))
    try:
        for number, record in enumerate(reader):
            if number % KEYS_A_LOOK == 0:
                bar.show(reader.position)
            expires = record.expiry_ms != NO_EXPIRY
            size = reader.position - reader.key_at
            contents.count_key(record.db, record.key, record.value, expires, size)
            if record.side is not None:
                side_data_in(record.side)
                contents.with_side_data += 1
        end = reader.end
    except UnknownType as error:
        found.verdict, found.problem, found.offset = "NOT SERVED", str(error), reader.position
    except StorageError as error:
        found.problem, found.offset = str(error), reader.position
    finally:
        bar.end()
    if found.problem:
        found.facts += [
            f"damaged: the bytes {start} to {behind}"
            for start, behind in islice(part_sums.damaged_parts(data), MOST_NAMED)
        ]
    found.facts += _facts(reader)
    if contents.with_side_data:
        found.facts.append(f"{contents.with_side_data:,} keys have side data")
    reader.close()
    return found, end


def _facts(reader: SnapshotReader) -> list[str]:
    aux = {name.decode("latin-1"): text.decode("latin-1") for name, text in reader.aux.items()}
    facts = [f"RDB version {reader.version}, by version {aux.get('redis-ver', 'unknown')}"]
    if aux.get("ctime", "").isdigit():
        when = datetime.fromtimestamp(int(aux["ctime"]), UTC)
        facts.append(f"made {when:%Y-%m-%d %H:%M:%S} UTC")
    if reader.end >= 0:
        facts.append("checksum right" if reader.checksummed else "no checksum")
    if reader.parts:
        facts.append(f"{reader.parts:,} checksums on the way are right")
    if reader.functions:
        facts.append(f"{len(reader.functions)} libraries of functions")
    return facts
