"""What a client is sent besides its replies comes after the reply to its own command."""

from __future__ import annotations

from server.client.client import Client
from server.client.endpoint import Endpoint
from server.client.pushes import Pushes


class Flushed(Endpoint):
    """Counts how often it was asked to send."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    def flush(self) -> None:
        self.times += 1


def test_a_message_is_sent_at_once_to_a_client_whose_command_does_not_run() -> None:
    pushes, client, other = Pushes(), Client(1, 0), Client(2, 0)
    client.endpoint = flushed = Flushed()
    pushes.begin_command(other)
    pushes.send(client, b"+x\r\n")
    assert (client.out.take(), flushed.times) == (b"+x\r\n", 1)


def test_what_a_clients_own_command_sends_comes_behind_the_reply_and_invalidations_last() -> None:
    pushes, client = Pushes(), Client(1, 0)
    client.endpoint = flushed = Flushed()
    pushes.begin_command(client)
    pushes.send_invalidation(client, b"+invalidation\r\n")
    pushes.send(client, b"+message\r\n")
    client.out.write(1)
    pushes.end_command(client)
    assert client.out.take() == b":1\r\n+message\r\n+invalidation\r\n"
    assert flushed.times == 2
    pushes.end_command(client)
    assert client.out.take() == b""


def test_the_end_of_another_clients_command_is_not_the_end_of_its_own() -> None:
    pushes, client = Pushes(), Client(1, 0)
    pushes.begin_command(client)
    pushes.send(client, b"+x\r\n")
    pushes.end_command(Client(2, 0))
    assert client.out.size() == 0
    pushes.end_command(client)
    assert client.out.take() == b"+x\r\n"
