"""Compact offsets: what they keep, how small they are, and what damaged ones do."""

from __future__ import annotations

import base64
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.names import text
from pyspark_penstock.read.compact import pack, unpack
from pyspark_penstock.read.offsets import LEGIBLE, FleetOffset, Offset, brief, check_same_source
from pyspark_penstock.read.positions import Cut, Position
from tests.spark.test_entry_id import IDS

SOURCE = {"subscribePattern": "*"}
COUNTS = st.integers(0, 2**64 - 1)
CUTS = st.builds(Cut, IDS, st.none() | COUNTS)
POSITIONS = st.builds(
    Position, IDS, COUNTS, st.none() | CUTS, st.lists(CUTS, max_size=3).map(tuple)
)
NAMES = st.binary(max_size=6).map(text) | st.text(max_size=300)
STREAMS = st.dictionaries(NAMES, POSITIONS, max_size=6)


@settings(deadline=None, max_examples=50)
@given(STREAMS)
def test_positions_are_read_back_from_the_compact_form(streams: dict[str, Position]) -> None:
    assert unpack(pack(streams)) == streams


def many(count: int, seed: int = 1) -> dict[str, Position]:
    """Streams as a query has them: all in the batch, a minute of entries in each."""
    chosen = random.Random(seed)
    streams = {}
    for at in range(count):
        n, entries = chosen.randrange(1_000_000), chosen.randrange(1, 100)
        end = EntryId(1_795_000_000_000 + chosen.randrange(60_000), 0)
        begin = EntryId(end.ms - chosen.randrange(60_000), chosen.randrange(2))
        streams[f"sensor:{at}"] = Position(end, n + entries, Cut(begin, n))
    return streams


def test_an_offset_of_ten_thousand_streams_takes_at_most_100_kb() -> None:
    """All of them are in the batch."""
    offset = Offset(SOURCE, many(10_000), "3f9a1c2b")
    written = json.dumps(offset.to_json())
    assert len(written) <= 100_000
    assert Offset.from_json(json.loads(written)) == offset


def test_the_names_of_ten_thousand_streams_are_a_digest() -> None:
    names = [f"sensor:{at}" for at in range(10_000)]
    source = brief({"subscribe": names})
    assert len(json.dumps(source)) < 200
    check_same_source({"subscribe": names[::-1]}, source)  # a checkpoint from before
    with pytest.raises(CheckpointError, match=r"reads .*9999"):
        check_same_source(source, {"subscribe": names[1:]})


def test_few_streams_stay_legible_and_old_offsets_of_many_still_load() -> None:
    few, several = many(LEGIBLE), many(LEGIBLE + 1)
    assert Offset(SOURCE, few).to_json()["streams"].keys() == few.keys()
    assert Offset(SOURCE, several).to_json().keys() == {"source", "query", "packed"}
    old = {"source": SOURCE, "streams": {s: p.to_json() for s, p in several.items()}}
    assert Offset.from_json(old) == Offset(SOURCE, several)


def test_a_count_of_more_than_64_bits_stays_json() -> None:
    streams = many(LEGIBLE) | {"x": Position(n=1 << 64)}
    offset = Offset(SOURCE, streams)
    assert Offset.from_json(json.loads(json.dumps(offset.to_json()))) == offset


def test_the_offset_of_several_servers_is_read_back() -> None:
    offset = FleetOffset(SOURCE, "3f9a1c2b", {"a:1": many(3), "b:1": many(LEGIBLE + 1), "c:1": {}})
    written = offset.to_json()
    assert FleetOffset.from_json(json.loads(json.dumps(written))) == offset
    assert offset.part("a:1").streams == many(3)


def test_the_offset_of_one_server_is_that_of_older_versions() -> None:
    offset = FleetOffset(SOURCE, "3f9a1c2b", {"": many(3)})
    assert offset.to_json() == Offset(SOURCE, many(3), "3f9a1c2b").to_json()
    assert FleetOffset.from_json(offset.to_json()) == offset


def test_a_checkpoint_of_one_server_is_refused_by_a_fleet_and_the_other_way_round() -> None:
    one, two = FleetOffset(SOURCE, "q", {"": {}}), FleetOffset(SOURCE, "q", {"a:1": {}, "b:1": {}})
    one.check(SOURCE, single=True)
    two.check(SOURCE, single=False)
    with pytest.raises(CheckpointError, match="several servers"):
        one.check(SOURCE, single=False)
    with pytest.raises(CheckpointError, match="one server"):
        two.check(SOURCE, single=True)


@settings(deadline=None)
@given(st.data())
def test_a_damaged_compact_offset_is_a_checkpoint_error(data: st.DataObject) -> None:
    packed = bytearray(base64.b85decode(pack(many(5))))
    if data.draw(st.booleans()):
        del packed[data.draw(st.integers(0, len(packed) - 1)) :]
        with pytest.raises(ValueError, match=r"."):
            unpack(base64.b85encode(packed).decode())
    at = data.draw(st.integers(0, max(0, len(packed) - 1)))
    packed[at : at + 1] = bytes([data.draw(st.integers(0, 255))])
    value = {"source": SOURCE, "packed": base64.b85encode(packed).decode()}
    try:
        Offset.from_json(value)
    except CheckpointError:
        pass  # another digit of a number is not seen; nothing else may come out


@pytest.mark.parametrize("number", [0, 1], ids=["streams", "cuts"])
@pytest.mark.parametrize("count", [100, 1 << 24])
def test_a_damaged_number_of_streams_or_cuts_takes_no_memory(number: int, count: int) -> None:
    """Columns that are all zero take no bytes, and were made as long as the number says."""
    packed = bytearray(base64.b85decode(pack(many(5))))
    packed[1 + 4 * number : 5 + 4 * number] = count.to_bytes(4, "little")
    with pytest.raises(ValueError, match=r"the (offset|cuts) "):
        unpack(base64.b85encode(packed).decode())


@pytest.mark.parametrize("packed", ["", "!", "\n", 'no base 85: "', "00000"])
def test_what_is_no_compact_offset_is_a_checkpoint_error(packed: str) -> None:
    with pytest.raises(CheckpointError, match="not an offset of this source"):
        Offset.from_json({"source": SOURCE, "packed": packed})
