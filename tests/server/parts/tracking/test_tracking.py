"""Who is told of which change, without commands: receivers, limits, prefixes, memory."""

from __future__ import annotations

import pytest

from server.client.client import SUBSCRIBED, Client
from server.client.end_of_turn import EndOfTurn
from server.client.endpoint import Endpoint
from server.client.pushes import Pushes
from server.client.tracking_options import NOT_TRACKING, TrackingOptions
from server.config.parameters import Config
from server.observe.memory import Memory
from server.parts.tracking import broadcasts
from server.parts.tracking.invalidation import Invalidation
from server.parts.tracking.tracking import EFFORT, Tracking
from server.table.command import TABLE, Command
from storage import allocation
from storage.chance import Chance
from tests.server import conftest  # noqa: F401  (fills the table)
from tests.used_memory import used_at_start

NOTHING = b""


def get() -> Command:
    row = TABLE.find(b"get")
    assert row is not None
    return row


class Site:
    """Clients, and what tracks for them."""

    def __init__(self) -> None:
        self.clients: dict[int, Client] = {}
        self.pushes = Pushes()
        self.memory = Memory()
        self.tracking = Tracking(self.clients, self.pushes, self.memory, Chance(1))

    def client(self, resp: int = 3, **options: object) -> Client:
        """A client that tracks."""
        client = Client(len(self.clients) + 1, 0)
        client.speak(resp)
        self.clients[client.id] = client
        self.track(client, **options)
        return client

    def track(self, client: Client, **options: object) -> None:
        chosen = TrackingOptions()
        prefixes = options.pop("prefixes", [])
        assert isinstance(prefixes, list)
        for name, value in options.items():
            setattr(chosen, name, value)
        self.tracking.start(client, chosen, prefixes)
        self.pushes.end_command(client)

    def read(self, client: Client, *keys: bytes) -> None:
        for key in keys:
            self.tracking.command_ran(client, get(), [b"GET", key])

    def limit(self, most_keys: int) -> None:
        config = Config()
        config.tracking_table_max_keys = most_keys
        self.tracking.configured(config)


@pytest.fixture
def site() -> Site:
    return Site()


def told(client: Client) -> bytes:
    return client.out.take()


def invalid(*keys: bytes, resp: int = 3) -> bytes:
    return Invalidation(keys).encoded(resp)


def test_messages_look_as_those_of_redis() -> None:
    assert Invalidation([b"k"]).encoded(3) == b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"
    assert Invalidation([b"k"]).encoded(2) == (
        b"*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$1\r\nk\r\n"
    )
    assert Invalidation(None).encoded(3) == b">2\r\n$10\r\ninvalidate\r\n_\r\n"
    assert Invalidation(None).encoded(2).endswith(b"__redis__:invalidate\r\n$-1\r\n")


def test_each_reader_is_told_once(site: Site) -> None:
    one, other = site.client(), site.client()
    site.read(one, b"k", b"k", b"l")
    site.read(other, b"k")
    site.tracking.changed(b"k", b"set")
    assert told(one) == told(other) == invalid(b"k")
    site.tracking.changed(b"k", b"set")
    assert told(one) == told(other) == NOTHING


def test_what_has_left_is_told_nothing_and_the_last_one_takes_the_table_along(site: Site) -> None:
    before = used_at_start()
    one, other = site.client(), site.client()
    site.read(one, b"k", b"l")
    site.read(other, b"k")
    assert allocation.used_bytes() > before
    del site.clients[one.id]
    site.tracking.client_left(one)
    assert one.tracking is NOT_TRACKING
    assert (len(site.tracking.table), site.tracking.table.items) == (2, 3)
    site.tracking.changed(b"k", b"set")
    assert (told(one), told(other)) == (NOTHING, invalid(b"k"))
    site.tracking.client_left(other)
    assert (len(site.tracking.table), site.tracking.table.items) == (0, 0)
    assert allocation.used_bytes() == before
    assert not site.tracking.hears


def test_resp2_is_told_by_a_subscriber_that_it_names(site: Site) -> None:
    plain, receiver = site.client(resp=2), site.client(resp=2)
    naming = site.client(resp=2, redirect=receiver.id)
    for client in (plain, naming):
        site.read(client, b"k")
    site.tracking.changed(b"k", b"set")
    assert told(plain) == told(receiver) == told(naming) == NOTHING
    receiver.set_flag(SUBSCRIBED)
    site.read(naming, b"k")
    site.tracking.changed(b"k", b"set")
    assert told(receiver) == invalid(b"k", resp=2)


def test_a_redirection_that_leads_nowhere_is_told(site: Site) -> None:
    receiver, old = site.client(), site.client(resp=2)
    naming = site.client(redirect=receiver.id)
    site.track(old, redirect=receiver.id)
    del site.clients[receiver.id]
    for client in (naming, old):
        site.read(client, b"k")
    site.tracking.changed(b"k", b"set")
    assert told(naming) == b">2\r\n$21\r\ntracking-redir-broken\r\n:1\r\n"
    assert told(old) == NOTHING
    assert naming.tracking.broken
    assert old.tracking.broken


def test_the_table_holds_no_more_keys_than_it_may(site: Site) -> None:
    client = site.client()
    site.limit(3)
    site.read(client, *(b"%d" % n for n in range(10)))
    assert len(site.tracking.table) == 3
    assert told(client).count(b"invalidate") == 7


def test_a_limit_that_is_lowered_is_reached_in_steps_that_grow(site: Site) -> None:
    client = site.client()
    site.limit(0)
    site.read(client, *(b"%d" % n for n in range(4 * EFFORT)))
    site.limit(1)
    sizes = []
    for _ in range(4):
        site.tracking.tick(0)
        sizes.append(len(site.tracking.table))
    assert sizes == [3 * EFFORT, EFFORT, 1, 1]


def test_prefixes_are_told_at_the_end_of_the_turn_in_order(site: Site) -> None:
    waiting: list[Endpoint] = []

    class Turn(EndOfTurn):
        def send_later(self, connection: Endpoint) -> None:
            waiting.append(connection)

    site.tracking.broadcasts.turn = Turn()
    client = site.client(broadcasts=True, prefixes=[b"user:", b"item:"])
    for key in (b"user:9", b"other", b"user:10", b"item:1", b"user:9"):
        site.tracking.changed(key, b"set")
    assert (told(client), waiting) == (NOTHING, [site.tracking.broadcasts])
    site.tracking.broadcasts.send()
    assert told(client) == invalid(b"item:1") + invalid(b"user:10", b"user:9")
    site.tracking.broadcasts.send()
    assert told(client) == NOTHING
    site.tracking.stop(client)
    assert len(site.tracking.broadcasts) == 0


def test_a_client_with_noloop_is_not_told_of_its_own_changes(site: Site) -> None:
    one, other = site.client(no_loop=True), site.client()
    for client in (one, other):
        site.read(client, b"k", b"l")
    site.pushes.begin_command(one)
    site.tracking.changed(b"k", b"set")
    site.pushes.end_command(one)
    site.tracking.changed(b"l", b"set")
    assert told(one) == invalid(b"l")
    assert told(other) == invalid(b"k") + invalid(b"l")


def test_with_noloop_a_prefix_tells_of_the_changes_of_others_and_of_nobody(site: Site) -> None:
    one = site.client(broadcasts=True, prefixes=[b""], no_loop=True)
    other = site.client(broadcasts=True, prefixes=[b""])
    site.pushes.begin_command(one)
    for key, event in ((b"own", b"set"), (b"gone", b"expired"), (b"out", b"evicted")):
        site.tracking.changed(key, event)
    site.pushes.end_command(one)
    site.tracking.changed(b"k", b"set")
    site.tracking.broadcasts.send()
    assert told(one) == invalid(b"gone", b"k", b"out")
    assert told(other) == invalid(b"gone", b"k", b"out", b"own")


def test_clients_with_noloop_that_have_changed_nothing_share_a_message(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Invalidation] = []

    def make(keys: list[bytes]) -> Invalidation:
        made.append(Invalidation(keys))
        return made[-1]

    monkeypatch.setattr(broadcasts, "Invalidation", make)
    one, *others = [site.client(broadcasts=True, prefixes=[b""], no_loop=True) for _ in range(50)]
    site.pushes.begin_command(one)
    site.tracking.changed(b"k", b"set")
    site.pushes.end_command(one)
    site.tracking.broadcasts.send()
    assert len(made) == 1
    assert told(one) == NOTHING
    assert {told(client) for client in others} == {invalid(b"k")}
