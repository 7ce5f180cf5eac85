"""Links that break at random bytes, of the handshake, of copies, and of the stream."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.compat.oracles import REDIS_7
from tests.polling import until
from tests.replication.cutting import CuttingWire
from tests.replication.kinds import OURS, Writer, await_link, await_same, counted, node_of, started

CUTS = 8


@pytest.mark.parametrize(
    ("primary_kind", "replica_kind"), [(OURS, OURS), (OURS, REDIS_7), (REDIS_7, OURS)]
)
def test_the_data_are_the_same_wherever_the_link_broke(
    tmp_path: Path, primary_kind: str, replica_kind: str
) -> None:
    dice = random.Random(7)
    lengths = [dice.choice((20, 120, 400, 2000, 10_000, 30_000)) for _ in range(CUTS)]
    lengths = [length + dice.randrange(length) for length in lengths]
    primary = node_of(primary_kind, tmp_path / "primary")
    replica = node_of(replica_kind, tmp_path / "replica")
    wire = CuttingWire(primary.port, iter(lengths))
    with wire, started(primary), started(replica):
        writer = Writer(32)
        writer.write(primary.client, 300)
        replica.client.execute_command("REPLICAOF", "127.0.0.1", wire.port)

        def is_through() -> bool:
            writer.write(primary.client, 20)
            return wire.is_through

        until(is_through, "a link that is not cut")
        await_link(replica)
        await_same(primary, replica)
        assert counted(primary, "sync_full") + counted(primary, "sync_partial_ok") >= 2
