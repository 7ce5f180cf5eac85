"""The options of groupMode=shared, and which of them contradict each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pyspark_penstock.errors import OptionError
from pyspark_penstock.read.sharing_options import Sharing
from pyspark_penstock.read.source_options import batch_options, stream_options

SHARED = {"group": "g", "groupMode": "shared"}
S = {"subscribe": "s"}


@pytest.mark.parametrize(
    ("read", "given", "message"),
    [
        (stream_options, S | {"groupMode": "shared"}, "'groupMode' is given without 'group'"),
        (stream_options, S | {"groupMode": "publish"}, "'groupMode' is given without 'group'"),
        (stream_options, S | {"group": "g", "groupMode": "queue"}, "publish or shared"),
        (stream_options, S | {"group": "g", "consumerPrefix": "p"}, "'consumerPrefix' is for"),
        (stream_options, S | {"claimMinIdleMs": "5"}, "'claimMinIdleMs' is for groupMode=shared"),
        (stream_options, S | SHARED | {"consumerPrefix": ""}, "'consumerPrefix' is empty"),
        (stream_options, S | SHARED | {"claimMinIdleMs": "0"}, "at least 1"),
        (stream_options, SHARED | {"assign": '{"s": ["1-0", "latest"]}'}, "'assign' contradicts"),
        (stream_options, S | SHARED | {"minOffsetsPerTrigger": "5"}, "'minOffsetsPerTrigger' con"),
        (stream_options, S | SHARED | {"maxTriggerDelay": "5s"}, "'maxTriggerDelay' contradicts"),
        (stream_options, S | SHARED | {"maxBytesPerTrigger": "5"}, "'maxBytesPerTrigger' contra"),
        (stream_options, S | SHARED | {"startingOffsets": "group:x"}, "'startingOffsets' of a gro"),
        (stream_options, S | SHARED | {"startingOffsets": '{"s": "group:x"}'}, "of a group"),
        (batch_options, S | {"groupMode": "shared"}, "it is one for stream reading"),
        (batch_options, S | {"consumerPrefix": "p"}, "it is one for stream reading"),
        (batch_options, S | {"claimMinIdleMs": "5"}, "it is one for stream reading"),
    ],
    ids=str,
)
def test_contradictory_options_are_refused_by_name(
    read: Callable[..., Any], given: dict[str, str], message: str
) -> None:
    with pytest.raises(OptionError) as refused:
        read(given)
    assert message in str(refused.value)


def test_defaults_of_a_shared_group() -> None:
    options = stream_options(S | SHARED)
    assert options.sharing == Sharing("spark", 60_000)
    assert options.max_offsets == 100_000


def test_a_position_group_is_not_shared() -> None:
    for given in ({}, {"groupMode": "PUBLISH"}):
        options = stream_options(S | {"group": "g"} | given)
        assert options.sharing is None
        assert options.max_offsets == 1_000_000
