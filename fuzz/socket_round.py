"""A round of the fuzzer of sockets: two servers, a crowd of clients, and what disturbs them all.

The first server gets most of the clients; the second is there for replicas, FAILOVER and MIGRATE.
Two primaries that lie wait for servers that are told to follow them.
"""

from __future__ import annotations

import signal
import ssl
import time
from collections import Counter, deque
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random

from fuzz.socket_crowd import Crowd, Peer
from fuzz.socket_data import PASSWORD, filled, with_big_string
from fuzz.socket_primary import LyingPrimary
from fuzz.socket_requests import Requests
from fuzz.socket_scene import Scene, draw_stock
from fuzz.socket_server import Finding, FuzzedProcess
from fuzz.socket_visitor import Probe, Visitor
from fuzz.socket_visits import draw_visit
from tests.certificates import Certificates

CLIENTS = 60  # at the same time
ARRIVALS = 8  # of them in a turn of the loop
ROUND_S = 20.0
PROBE_EVERY_S = 1.0
PATIENCE_S = 40.0  # for an answer to PING, during scripts, pauses and copies
SECOND = 0.3  # share of the clients that go to the second server
DISTURB_EVERY_S = 0.25
SHOWN = 60  # visits that a finding shows


class Round:
    """What *seed* draws, in *folder*; *totals* counts what was done."""

    def __init__(
        self,
        seed: int,
        folder: Path,
        backend: str,
        certificates: Certificates,
        totals: Counter[str],
    ) -> None:
        self._seed = seed
        self._dice = Random(seed)
        self._totals = totals
        backends = ("epoll", "asyncio") if backend == "both" else (backend,)
        self.servers = [
            FuzzedProcess(self._dice, folder / name, certificates, self._dice.choice(backends))
            for name in ("first", "second")
        ]
        self.visits: deque[str] = deque(maxlen=SHOWN)  # the last ones
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._context.check_hostname = False
        self._context.verify_mode = ssl.CERT_NONE
        self._crowd = Crowd()
        self._numbers = count()
        self._unreachable_s: dict[FuzzedProcess, float] = {}

    def run(self, ends_s: float) -> None:
        """Run it, until *ends_s* at most. Raises Finding."""
        try:
            self._prepare()
            self._disturb_all(min(ends_s, time.monotonic() + ROUND_S))
            self._crowd.close()
            for server in self.servers:
                server.stop()
        finally:
            self._crowd.close()
            for server in self.servers:
                server.kill()

    def _prepare(self) -> None:
        """Start the servers, and fill them."""
        for server in self.servers:
            server.start()
            requests = filled(3000, Requests().add("AUTH", PASSWORD)).add("SAVE")
            server.ask(with_big_string(requests))
        self._copy = (self.servers[0].folder / "dump.rdb").read_bytes()
        ports = [server.addresses.port for server in self.servers]
        tls_ports = [server.addresses.tls_port for server in self.servers]
        self._scene = Scene(ports, tls_ports, [], draw_stock(self._dice))
        for _ in range(2):
            primary = LyingPrimary(self._dice, self._scene, lambda: self._copy, self._crowd.add)
            self._scene.primaries.append(primary.port)
            self._crowd.add(primary)

    def _disturb_all(self, ends_s: float) -> None:
        probe_s = disturb_s = time.monotonic()
        visitors = 0
        while (now_s := time.monotonic()) < ends_s:
            for _ in range(min(ARRIVALS, CLIENTS - visitors)):
                visitors += self._arrive()
            for peer in self._crowd.turn(0.02):
                visitors -= self._left(peer)
            if now_s >= probe_s:
                probe_s = now_s + PROBE_EVERY_S
                for server in self.servers:
                    self._look_after(server, now_s)
            if now_s >= disturb_s:
                disturb_s = now_s + DISTURB_EVERY_S
                self._disturb()

    # ------------------------------------------------------------------ clients

    def _arrive(self) -> bool:
        """The next client comes, if it can."""
        number = next(self._numbers)
        dice = Random(f"{self._seed}:{number}")
        at = int(dice.random() < SECOND)
        visit = draw_visit(dice, replace(self._scene, at=at))
        self.visits.append(f"{number} to server {at}: {visit}")
        try:
            visitor = Visitor(visit, self.servers[at].addresses, self._context)
        except OSError:
            return False
        self._totals["connections"] += 1
        self._totals["commands"] += visit.commands
        self._crowd.add(visitor)
        return not visitor.is_over

    def _left(self, peer: Peer) -> bool:
        """*peer* is over; whether it was a visitor. Raises Finding."""
        if isinstance(peer, Probe) and peer.failed:
            raise Finding(peer.failed)
        if isinstance(peer, Visitor):
            self._totals["bytes"] += peer.received
            return True
        return False

    # ------------------------------------------------------------------ servers

    def _look_after(self, server: FuzzedProcess, now_s: float) -> None:
        """Start *server* again if it has ended, else see whether it answers. Raises Finding."""
        if server.has_ended():
            server.start()
            self._totals["restarts"] += 1
            return
        try:
            self._crowd.add(Probe(server.addresses, PATIENCE_S))
        except OSError:
            since_s = self._unreachable_s.setdefault(server, now_s)
            if now_s - since_s > PATIENCE_S:
                raise Finding("the server accepts no connections, and does not end") from None
        else:
            self._unreachable_s.pop(server, None)

    def _disturb(self) -> None:
        """Let something happen to a server from outside, perhaps."""
        dice = self._dice
        server = dice.choice(self.servers)
        chance = dice.random()
        if chance < 0.1:
            server.limit_files(dice.choice((0, 30_000, 1_000_000, 10_000_000)))
            self._totals["full disks"] += 1
        elif chance < 0.3:
            server.limit_files(-1)
        elif chance < 0.38:
            server.signal(signal.SIGSTOP)
            time.sleep(dice.choice((0.01, 0.05, 0.2)))
            server.signal(signal.SIGCONT)
        elif chance < 0.388:
            server.signal(signal.SIGKILL)
            self._totals["kills"] += 1
        elif chance < 0.393:
            server.signal(signal.SIGTERM)
