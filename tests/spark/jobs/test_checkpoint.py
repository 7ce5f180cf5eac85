"""Reading Spark's checkpoints, and refusing damaged ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.jobs.checkpoint import has_checkpoint, parse_batch, read_checkpoint
from pyspark_penstock.jobs.files import LocalFiles, local_path
from pyspark_penstock.local_paths import is_local

FILES = LocalFiles()
CLAIM = (
    '{"source": {"subscribe": ["a"], "group": "g"}, "member": "spark-1", "batch": 2, '
    '"claims": {"a": {"entries": 4, "upto": "9-3"}, "b": {"entries": 0}}}'
)
OFFSET = '{"source": {"subscribe": ["a"]}, "streams": {"a": {"id": "5-1", "n": 7}}}'


def batch(*sources: str) -> str:
    return "\n".join(["v1", '{"batchTimestampMs": 99}', *sources])


def checkpoint(folder: Path, planned: int, committed: int) -> str:
    for log, last in (("offsets", planned), ("commits", committed)):
        (folder / log).mkdir(parents=True)
        for number in range(last + 1):
            text = batch(OFFSET.replace("7", str(number))) if log == "offsets" else "v1\n{}"
            (folder / log / str(number)).write_text(text)
            (folder / log / f".{number}.crc").write_text("")
    (folder / "metadata").write_text(json.dumps({"id": "query-1"}))
    return str(folder)


def test_the_last_batch_of_each_log_is_read(tmp_path: Path) -> None:
    found = read_checkpoint(FILES, checkpoint(tmp_path, planned=11, committed=10))
    assert found.query == "query-1"
    assert found.planned is not None
    assert found.committed is not None
    assert (found.planned.number, found.committed.number) == (11, 10)
    assert found.offsets[0].streams["a"].n == 10


def test_a_query_that_never_committed_has_no_offsets(tmp_path: Path) -> None:
    found = read_checkpoint(FILES, checkpoint(tmp_path, planned=0, committed=-1))
    assert found.committed is None
    assert not found.offsets


def test_a_folder_without_metadata_is_not_a_checkpoint(tmp_path: Path) -> None:
    assert not has_checkpoint(FILES, str(tmp_path))
    with pytest.raises(CheckpointError, match="not the checkpoint of a query"):
        read_checkpoint(FILES, str(tmp_path / "nowhere"))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "7"])
def test_damaged_metadata_is_refused_with_its_path(tmp_path: Path, text: str) -> None:
    """A power failure can damage it, since Spark does not sync it."""
    folder = checkpoint(tmp_path, planned=0, committed=0)
    (tmp_path / "metadata").write_text(text)
    with pytest.raises(CheckpointError, match="metadata' is damaged"):
        read_checkpoint(FILES, folder)


def test_a_committed_batch_without_offsets_is_refused(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path, planned=3, committed=3)
    (tmp_path / "offsets" / "3").unlink()
    with pytest.raises(CheckpointError, match="batch 3 is done, but has no offsets"):
        read_checkpoint(FILES, folder)


def test_claims_of_a_shared_group_and_offsets_are_distinguished() -> None:
    found = parse_batch(3, batch(OFFSET, CLAIM))
    assert len(found.offsets) == 1
    (shared,) = found.shared
    assert shared.place("a").consumer == "spark-1-2"
    assert (shared.claims["a"].entries, shared.claims["a"].upto) == (4, EntryId(9, 3))


def test_other_sources_and_missing_offsets_are_ignored() -> None:
    found = parse_batch(3, batch("-", '{"logOffset": 4}', OFFSET, "17"))
    assert [offset.streams["a"].id for offset in found.offsets] == [EntryId(5, 1)]
    assert found.planned_ms == 99


@pytest.mark.parametrize(
    "text", ["", "v2\n{}\n-", "v1\n{", batch("{"), "v1\n[]", 'v1\n{"batchTimestampMs": []}']
)
def test_a_damaged_batch_is_refused_with_its_number(text: str) -> None:
    with pytest.raises(CheckpointError, match="batch 3"):
        parse_batch(3, text)


def test_local_paths_are_recognized() -> None:
    assert local_path("file:///a%20b/c") == Path("/a b/c")
    assert is_local("a/b")
    assert not is_local("s3a://bucket/a")
    with pytest.raises(CheckpointError, match="not a path of this machine"):
        local_path("hdfs://host/a")
