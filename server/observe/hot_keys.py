"""HOTKEYS: which keys take most of the commands' time, and of the bytes of requests and replies.

    START      a session begins: each command with keys is counted under them   -> ON
    STOP       it ends, as it does by itself after its duration                 -> its figures stay
    RESET      its figures are forgotten

A command with several keys counts for each by an equal share. Commands of a script count as the
script's. While there is no session, none of this costs anything: see CommandTimes.

The bytes of a reply are known when it is written, which is after the command was counted. So they
are looked at when the next command is counted, or somebody asks.
"""

from __future__ import annotations

import resource

from server.client.client import Client
from server.observe.fact import MILLISECONDS, Facts, flag, gauge
from server.observe.part import Part
from server.observe.top_counts import TopCounts
from server.table.command import Command, Flags
from storage.chance import Chance
from storage.keyspace.settings import Clock

RUNS_SCRIPTS = int(Flags.RUNS_SCRIPTS)


class Session:
    """One session: what it counts, and its figures. Times are unix ms and ns."""

    def __init__(
        self, cpu: bool, net: bool, count: int, duration_s: int, sample: int, now_ms: int
    ) -> None:
        self.sample = sample  # one of so many commands is counted
        self.count = count  # keys that are shown
        self.started_ms = now_ms
        self.ends_ms = now_ms + duration_s * 1000 if duration_s else 0
        self.ended_ms = 0
        self.ns = 0  # of all commands that were counted
        self.bytes = 0
        self.by_ns = TopCounts() if cpu else None
        self.by_bytes = TopCounts() if net else None
        self._user_s, self._system_s = _cpu_s()

    def end(self, now_ms: int) -> None:
        """It ends at *now_ms*."""
        self.ended_ms = now_ms
        user_s, system_s = _cpu_s()
        self._user_s, self._system_s = user_s - self._user_s, system_s - self._system_s

    def cpu_ms(self) -> tuple[int, int]:
        """What the process has taken since the start, as user and as system."""
        if self.ended_ms:
            return int(self._user_s * 1000), int(self._system_s * 1000)
        user_s, system_s = _cpu_s()
        return int((user_s - self._user_s) * 1000), int((system_s - self._system_s) * 1000)


def _cpu_s() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime, used.ru_stime


class HotKeys(Part):
    """The session that is on, or was."""

    def __init__(self, chance: Chance, clock: Clock) -> None:
        self._chance = chance
        self._clock = clock
        self.session: Session | None = None
        self.is_on = False
        self._unanswered: tuple[Client, list[bytes], int] | None = None

    def start(self, cpu: bool, net: bool, count: int, duration_s: int, sample: int) -> None:
        """Begin a session; none must be on."""
        self.session = Session(cpu, net, count, duration_s, sample, self._clock.now_ms)
        self.is_on = True

    def stop(self) -> bool:
        """End the session. False if none is on."""
        if not self.is_on or self.session is None:
            return False
        self._take_reply()
        self.session.end(self._clock.now_ms)
        self.is_on = False
        return True

    def figures(self) -> Session | None:
        """The session with all that is known by now; None if there was none."""
        self._end_if_over()
        if self.is_on:
            self._take_reply()
        return self.session

    def reset(self) -> None:
        """Forget the figures; no session must be on."""
        self.session = None

    def tick(self, now_ms: int) -> None:
        self._end_if_over()

    def _end_if_over(self) -> None:
        session = self.session
        if self.is_on and session is not None and 0 < session.ends_ms <= self._clock.now_ms:
            self.stop()

    # ------------------------------------------------------------------ counting

    def ran(self, client: Client, command: Command, argv: list[bytes], ns: int) -> None:
        """*client*'s *command* has taken *ns*, and is about to be answered. O(bytes)."""
        session = self.session
        if session is None:
            return
        self._take_reply()
        outer = client.last_command
        if outer is not None and outer is not command and outer.flags & RUNS_SCRIPTS:
            return  # it is a script's
        keys = [use.key for use in command.keys_of(argv)]
        if not keys or (session.sample > 1 and self._chance.below(session.sample)):
            return
        session.ns += ns
        if session.by_ns is not None:
            for key in keys:
                session.by_ns.add(key, ns // len(keys))
        self._count_bytes(session, keys, request_size(argv))
        self._unanswered = client, keys, _answered(client)

    def _take_reply(self) -> None:
        """Count the bytes of the reply to the last command."""
        if self._unanswered is not None and self.session is not None:
            client, keys, before = self._unanswered
            self._count_bytes(self.session, keys, max(0, _answered(client) - before))
        self._unanswered = None

    def _count_bytes(self, session: Session, keys: list[bytes], size: int) -> None:
        session.bytes += size
        if session.by_bytes is not None:
            for key in keys:
                session.by_bytes.add(key, size / len(keys))

    def client_left(self, client: Client) -> None:
        if self._unanswered is not None and self._unanswered[0] is client:
            self._take_reply()


def _answered(client: Client) -> int:
    """Bytes of replies that *client* was given ever."""
    return client.sent + client.out.size()


def request_size(argv: list[bytes]) -> int:
    """The bytes of a command as an array of RESP."""
    size = len(b"*%d\r\n" % len(argv))
    for word in argv:
        size += len(b"$%d\r\n" % len(word)) + len(word) + 2
    return size


SESSION = Facts[Session](
    flag("hotkeys-tracking-active", lambda session: not session.ended_ms, "1 while HOTKEYS counts"),
    gauge("hotkeys-cmd-cpu-time", MILLISECONDS, lambda session: session.ns // 1_000_000,
          "What the commands took that HOTKEYS has counted"),
)  # fmt: skip
