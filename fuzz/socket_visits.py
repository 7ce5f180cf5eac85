"""Draws what the clients of the fuzzer of sockets are, and how each of them misbehaves.

A visit depends on its dice alone, not on what other clients do or how fast the servers are.

    a kind      what it sends: a function of KINDS, drawn by its weight
    a prelude   how it logs in, and what it wants of its connection
    a tail      what follows at once, and often hangs up
    its habits  how it reads, and how it ends; large replies are mostly left in the middle
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from fuzz.socket_administration import ADMINISTRATION
from fuzz.socket_data import PASSWORD
from fuzz.socket_kinds import CLIENTS
from fuzz.socket_requests import Burst, End, Requests, Road, Visit
from fuzz.socket_scene import Scene

KINDS: dict[str, tuple[float, Callable[[Random, Scene], Requests]]] = {**CLIENTS, **ADMINISTRATION}
STAYING = ("subscriber", "monitor", "tracker", "replica", "blocked")  # mostly for longer

HTTP = b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"
TAILS = (
    HTTP, HTTP, b"*1\r\n$-5\r\n", b"*x\r\n", b"*2\r\n$4\r\nQUIT\r\nx", b"QUIT\r\n", b"QUIT\r\n",
    b"CLIENT KILL TYPE normal SKIPME no\r\n", b"CLIENT KILL SKIPME no USER default\r\n",
    b"RESET\r\n", b"HELLO 3\r\n", b"AUTH nobody x\r\n", b"\"\r\n", b"*1048577\r\n", b"\r\n\r\n",
    b"CLIENT REPLY OFF\r\n", b"CLIENT TRACKING ON BCAST\r\n", b"MONITOR\r\n", b"SUBSCRIBE news\r\n",
    b"CLIENT NO-EVICT ON\r\n", b"CLIENT PAUSE 20\r\n", b"DEBUG SLEEP 0.02\r\n", b"UNKNOWN\r\n",
)  # fmt: skip


def draw_visit(dice: Random, scene: Scene) -> Visit:
    """One client."""
    names = list(KINDS)
    (kind,) = dice.choices(names, [KINDS[name][0] for name in names])
    requests = KINDS[kind][1](dice, scene)
    if dice.random() < 0.3:
        requests.raw(dice.choice(TAILS), "tail")
    before = _prelude(dice)
    bursts = [Burst(0.0, before), *requests.done()] if before else requests.done()
    if bursts and bursts[0].after == 0.0 and len(bursts) > 1 and dice.random() < 0.8:
        bursts[:2] = [Burst(bursts[1].after, bursts[0].data + bursts[1].data)]  # in one write
    road = dice.choices(list(Road), (5, 4, 2))[0]
    visit = Visit(kind, road, _perhaps_cut(dice, bursts), requests.commands, requests.names)
    _draw_habits(dice, visit)
    return visit


def _prelude(dice: Random) -> bytes:
    """How a client begins; most log in as the default user."""
    chance = dice.random()
    if chance < 0.08:
        login = ""  # refused, if there is a password
    elif chance < 0.14:
        login = f"AUTH ann {PASSWORD}"
    elif chance < 0.18:
        login = f"AUTH bob {PASSWORD}"
    else:
        login = f"AUTH {PASSWORD}"
    lines = [login] if login else []
    for share, line in (
        (0.25, "HELLO 3"),
        (0.04, "CLIENT REPLY OFF"),
        (0.02, "CLIENT REPLY SKIP"),
        (0.06, "CLIENT TRACKING ON"),
        (0.02, "CLIENT TRACKING ON BCAST"),
        (0.02, "CLIENT NO-EVICT ON"),
        (0.02, "CLIENT NO-TOUCH ON"),
        (0.02, "MULTI"),
    ):
        if dice.random() < share:
            lines.append(line)
    return "".join(line + "\r\n" for line in lines).encode()


def _perhaps_cut(dice: Random, bursts: list[Burst]) -> list[Burst]:
    """*bursts*, or these cut off inside of a command, or in two at any byte."""
    if not bursts:
        return bursts
    chance = dice.random()
    at = dice.randrange(len(bursts))
    after, data = bursts[at]
    cut = dice.randrange(len(data) + 1)
    if chance < 0.08:
        return [*bursts[:at], Burst(after, data[:cut])]
    if chance < 0.2:
        parts = [Burst(after, data[:cut]), Burst(dice.uniform(0.001, 0.05), data[cut:])]
        return [*bursts[:at], *parts, *bursts[at + 1 :]]
    return bursts


def _draw_habits(dice: Random, visit: Visit) -> None:
    """How it reads, and how it ends."""
    visit.end = dice.choices(list(End), (2, 5, 3))[0]
    visit.lasts = dice.choice((0.0, 0.02, 0.1, 0.3, 0.6, 1.0, 2.0))
    visit.waits = dice.random() < 0.8
    if visit.kind in STAYING:
        visit.lasts *= 2
    if visit.kind == "muted writer":  # no reply comes; it is gone while the server works for it
        visit.waits = False
        visit.lasts /= 10
        visit.end = dice.choice((End.RESET, End.RESET, visit.end))
    if dice.random() < 0.5:
        visit.receive_buffer = dice.choice((4096, 32768, 32768, 262_144))
    chance = dice.random()
    if chance < 0.25:
        visit.reads = 0
    elif chance < 0.6:
        visit.reads = dice.choice((512, 4096, 65536, 1 << 20))
        visit.pause = dice.choice((0.001, 0.005, 0.02, 0.1))
    if dice.random() < 0.4:
        visit.most = dice.choice((1, 1000, 100_000, 3_000_000, 20_000_000, 60_000_000))
        visit.most = dice.randrange(visit.most) + 1
    if visit.road is Road.TLS and dice.random() < 0.1:
        visit.cut_handshake = dice.randrange(600)
