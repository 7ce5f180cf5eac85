"""Facts of the clients: how many there are, and what their buffers hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from server.client.client import Client
from server.observe.fact import BYTES, COUNT, Facts, gauge, nothing


class Connected(NamedTuple):
    """How many clients there are, without replicas, and how many there may be."""

    clients: int
    most: int


class Buffers(NamedTuple):
    """What all clients together are waiting for and hold, in bytes where it is a size."""

    watching: int
    largest_input: int
    largest_output: int
    timed: int


def buffers_of(clients: Sequence[Client]) -> Buffers:
    """Look at each of *clients* once."""
    watching = timed = inputs = outputs = 0
    for client in clients:
        watching += bool(client.watching)
        timed += client.waiter is not None and bool(client.waiter.due_ms)
        at = client.endpoint.buffers()
        inputs = max(inputs, at.requests + at.room)
        outputs = max(outputs, at.replies + len(client.out))
    return Buffers(watching, inputs, outputs, timed)


CONNECTED = Facts[Connected](
    gauge("connected_clients", COUNT, lambda now: now.clients, "Clients, without replicas"),
    gauge("maxclients", COUNT, lambda now: now.most, "How many clients there may be"),
)

BUFFERS = Facts[Buffers](
    gauge("watching_clients", COUNT, lambda held: held.watching, "Clients that watch keys"),
    gauge("client_recent_max_input_buffer", BYTES, lambda held: held.largest_input,
          "The most that one client's requests take"),
    gauge("client_recent_max_output_buffer", BYTES, lambda held: held.largest_output,
          "The most that one client's replies take"),
    gauge("clients_in_timeout_table", COUNT, lambda held: held.timed,
          "Blocked clients whose wait has a limit"),
)  # fmt: skip

CLUSTER = Facts[object](
    nothing("cluster_connections", COUNT, "Connections between nodes of a cluster: there is none"),
)
