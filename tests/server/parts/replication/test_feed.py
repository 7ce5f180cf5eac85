"""The stream of changes as replicas get it."""

from server.client.client import Client
from server.client.end_of_turn import EndOfTurn
from server.client.endpoint import Endpoint
from server.parts.propagation.propagation import Propagation
from server.parts.replication.feed import Feed
from server.parts.replication.history import History
from server.parts.replication.replica import Replica, Stage

SELECT_0 = b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"
SELECT_3 = b"*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n"
DEL = b"*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n"
MULTI = b"*1\r\n$5\r\nMULTI\r\n"
EXEC = b"*1\r\n$4\r\nEXEC\r\n"
PING = b"*1\r\n$4\r\nPING\r\n"
GETACK = b"*3\r\n$8\r\nREPLCONF\r\n$6\r\nGETACK\r\n$1\r\n*\r\n"
PUBLISH = b"*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$1\r\nm\r\n"
DELETION = [b"DEL", b"k"]


class Socket(Endpoint):
    """Keeps what a replica is sent."""

    def __init__(self, client: Client) -> None:
        super().__init__()
        self.client = client
        self.taken = b""

    def send(self) -> None:
        self.taken += self.client.out.take()


class Stream(EndOfTurn):
    """A feed, whose turn is ended by hand."""

    def __init__(self) -> None:
        self.propagation = Propagation()
        self.feed = Feed(self.propagation, History("a" * 40))
        self.feed.history.keep_backlog(1000)
        self.asked = 0
        self.feed.turn = self
        self.propagation.attach(self.feed)
        self.feed.is_attached = True

    def send_later(self, connection: Endpoint) -> None:
        self.asked += 1

    def change(self, *databases: int) -> None:
        """A command deletes a key in each of *databases*."""
        for db in databases:
            self.propagation.add(db, DELETION)
        self.propagation.deliver()

    def sent(self) -> bytes:
        """What leaves when the turn ends."""
        before = self.feed.history.offset
        self.feed.send()
        assert self.feed.history.backlog is not None
        return b"".join(self.feed.history.backlog.since(before + 1))

    def replica(self, stage: Stage) -> tuple[Replica, Socket]:
        client = Client(1, 0)
        socket = client.endpoint = Socket(client)
        replica = Replica(client)
        replica.stage = stage
        self.feed.replicas.append(replica)
        return replica, socket


def test_the_database_is_selected_when_it_changes():
    stream = Stream()
    stream.change(0)
    stream.change(0)
    stream.change(3)
    assert stream.sent() == SELECT_0 + DEL + DEL + SELECT_3 + DEL
    stream.change(3)
    assert stream.sent() == DEL


def test_what_belongs_together_is_a_transaction_with_select_inside():
    stream = Stream()
    stream.change(0, 0, 3)
    assert stream.sent() == MULTI + SELECT_0 + DEL + DEL + SELECT_3 + DEL + EXEC


def test_who_begins_to_read_is_told_the_database():
    stream = Stream()
    stream.change(0)
    stream.sent()
    stream.feed.select_anew()
    stream.change(0)
    assert stream.sent() == SELECT_0 + DEL


def test_the_end_of_the_turn_is_asked_for_once():
    stream = Stream()
    stream.change(0)
    stream.change(0)
    assert stream.asked == 1
    stream.feed.send()
    stream.change(0)
    assert stream.asked == 2


def test_the_offset_counts_what_is_not_sent_yet():
    stream = Stream()
    stream.change(0)
    assert stream.feed.offset() == stream.propagation.stream_offset == len(SELECT_0 + DEL)
    assert stream.feed.history.offset == 0
    stream.feed.send()
    assert stream.feed.offset() == stream.feed.history.offset == len(SELECT_0 + DEL)


def test_replicas_are_asked_for_their_offset_once_behind_each_change():
    stream = Stream()
    stream.feed.ask_offsets()
    stream.feed.ask_offsets()
    assert stream.sent() == GETACK
    stream.change(0)
    stream.feed.ask_offsets()
    assert stream.sent() == SELECT_0 + DEL + GETACK


def test_a_message_stands_in_its_place_among_the_changes():
    stream = Stream()
    stream.feed.publish(0, [b"PUBLISH", b"c", b"m"])
    stream.change(0)
    assert stream.sent() == MULTI + SELECT_0 + PUBLISH + DEL + EXEC


def test_a_database_is_selected_before_a_first_message():
    stream = Stream()
    stream.feed.publish(0, [b"PUBLISH", b"c", b"m"])
    stream.propagation.deliver()
    assert stream.asked == 1
    assert stream.sent() == SELECT_0 + PUBLISH


def test_a_replica_sends_no_messages_of_its_own():
    stream = Stream()
    stream.feed.follows = True
    stream.feed.publish(0, [b"PUBLISH", b"c", b"m"])
    assert stream.propagation.ops == []


def test_a_replica_encodes_nothing_of_its_own():
    stream = Stream()
    stream.feed.follows = True
    stream.change(0)
    stream.feed.ping()
    stream.feed.ask_offsets()
    assert stream.sent() == b""
    stream.feed.pass_on(DEL)
    assert stream.feed.offset() == stream.propagation.stream_offset == len(DEL)


def test_only_who_is_online_is_sent_the_stream_at_once():
    stream = Stream()
    online, copying, waiting, loading = (
        stream.replica(stage)
        for stage in (Stage.ONLINE, Stage.COPYING, Stage.WAITING, Stage.ONLINE)
    )
    loading[0].waits_for_ack = True
    stream.feed.ping()
    stream.feed.send()
    assert [socket.taken for _, socket in (online, copying, waiting, loading)] == [
        PING, b"", b"", b"",
    ]  # fmt: skip
    assert copying[0].unsent() == loading[0].unsent() == len(PING)
    assert waiting[0].unsent() == 0
    for replica, socket in (copying, loading):
        replica.go_online()
        assert socket.taken == PING
        assert replica.unsent() == 0


class Broken(Socket):
    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self.is_closed = False

    def send(self) -> None:
        raise OSError("the socket is broken")

    def disconnect(self) -> None:
        self.is_closed = True


def test_a_replica_that_cannot_be_served_is_no_harm_to_others():
    stream = Stream()
    bad, _ = stream.replica(Stage.ONLINE)
    socket = Broken(bad.client)
    bad.client.endpoint = socket
    _, good = stream.replica(Stage.ONLINE)
    stream.feed.ping()
    stream.feed.send()
    assert good.taken == PING
    assert socket.is_closed
