"""The worlds that there are: what runs in each, what befalls it, and what must be true of it.

one_server.py   always                one server, appendfsync always
histories.py    everysec, snapshots   one server that may lose the last of what it has answered
flips.py        flips                 one server, and flipped bits in its append-only file
replicas.py     replicas              a primary, and replicas
failover.py     failover              and a decider that promotes one of them
handover.py     handover              FAILOVER
confirmed.py    confirmed, .._queue   and clients with CLIENT ACKS
group.py        the servers and failures of these
common.py       what they share
"""

from tests.simulation.scenarios.confirmed import confirmed, confirmed_queue
from tests.simulation.scenarios.failover import failover
from tests.simulation.scenarios.flips import flips
from tests.simulation.scenarios.handover import handover
from tests.simulation.scenarios.histories import everysec, snapshots
from tests.simulation.scenarios.one_server import always
from tests.simulation.scenarios.replicas import replicas

SCENARIOS = (
    always,
    everysec,
    snapshots,
    flips,
    replicas,
    failover,
    handover,
    confirmed,
    confirmed_queue,
)
