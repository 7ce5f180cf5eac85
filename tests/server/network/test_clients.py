"""Who is let in: protected mode, and who has to log in first."""

from __future__ import annotations

import pytest

from server.client.client import RESTRICTED, UNAUTHENTICATED
from server.client.endpoint import Endpoint
from server.network.clients import Clients
from server.network.transport import Transport

STRANGERS = ["10.0.0.9:1", "192.168.1.7:50000", "[2001:db8::1]:1", "[::ffff:10.0.0.9]:1"]
LOCALS = ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "/run/penstock.sock:0"]


class NoSocket(Transport):
    """The end of a connection from *address*."""

    def __init__(self, address: str) -> None:
        self.fd = 9
        self.address, self.local_address = address, "10.0.0.2:6379"


@pytest.fixture
def come(server):
    """Lets a client come from an address."""
    clients = Clients(server.state, lambda: 0)
    return lambda address: clients.opened(NoSocket(address), Endpoint())


def is_refused(client):
    return client.close_after_reply and client.out.take().startswith(b"-DENIED Penstock is running")


@pytest.mark.parametrize("address", STRANGERS)
def test_without_a_password_strangers_are_refused(come, address):
    assert is_refused(come(address))


@pytest.mark.parametrize("address", LOCALS)
def test_clients_of_this_machine_are_let_in(come, address):
    client = come(address)
    assert not client.close_after_reply and client.flags == 0


@pytest.mark.parametrize(
    "line",
    [
        "CONFIG SET protected-mode no",
        "CONFIG SET requirepass secret",
        "ACL SETUSER default >secret",
        "ACL SETUSER default resetpass",
    ],
)
def test_protected_mode_ends_with_a_password_or_by_its_parameter(server, come, line):
    server.send_line(line)
    assert not come(STRANGERS[0]).close_after_reply


def test_a_default_user_who_is_off_but_needs_no_password_lets_no_stranger_in(server, come):
    """As in Redis: nobody may run anything, but strangers are refused nevertheless."""
    server.send_line("ACL SETUSER default off")
    assert is_refused(come(STRANGERS[0]))


def test_who_comes_is_the_default_user_and_logs_in_if_it_has_a_password(server, come):
    server.send_line("ACL SETUSER default -debug")
    assert come(LOCALS[0]).flags == RESTRICTED
    server.send_line("ACL SETUSER default >secret")
    client = come(LOCALS[0])
    assert client.flags == RESTRICTED | UNAUTHENTICATED
    assert client.user is server.state.access.users.default
