"""SUBSCRIBE and its like: answers, what a subscriber may run, and where messages stand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.conftest import NOTHING

ONLY = (
    "-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are"
    " allowed in this context"
)


def replies(client: Any) -> list[Any]:
    """All that *client* got."""
    found = []
    while (reply := client.reply()) != NOTHING:
        found.append(reply)
    return found


@pytest.mark.parametrize(
    ("subscribe", "unsubscribe"),
    [
        ("SUBSCRIBE", "UNSUBSCRIBE"),
        ("PSUBSCRIBE", "PUNSUBSCRIBE"),
        ("SSUBSCRIBE", "SUNSUBSCRIBE"),
    ],
)
def test_each_name_has_an_answer_with_the_number_of_subscriptions(
    server: Any, subscribe: str, unsubscribe: str
) -> None:
    word, unword = subscribe.lower().encode(), unsubscribe.lower().encode()
    assert server.send(subscribe, "a", "b", "a") == [word, b"a", 1]
    assert replies(server.owner) == [[word, b"b", 2], [word, b"a", 2]]
    assert server.send(unsubscribe, "b", "nosuch") == [unword, b"b", 1]
    assert replies(server.owner) == [[unword, b"nosuch", 1]]
    assert server.send(unsubscribe) == [unword, b"a", 0]
    assert server.send(unsubscribe) == [unword, None, 0]


def test_channels_and_patterns_are_counted_together_and_shard_channels_apart(server: Any) -> None:
    assert server.send_line("SUBSCRIBE a") == [b"subscribe", b"a", 1]
    assert server.send_line("PSUBSCRIBE a") == [b"psubscribe", b"a", 2]
    assert server.send_line("SSUBSCRIBE a") == [b"ssubscribe", b"a", 1]
    assert server.send_line("UNSUBSCRIBE a") == [b"unsubscribe", b"a", 1]
    assert server.send_line("UNSUBSCRIBE") == [b"unsubscribe", None, 1]


def test_answers_are_pushes_in_resp3(server: Any) -> None:
    server.send_line("HELLO 3")
    assert server.owner.raw("SUBSCRIBE", "a") == b">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"
    assert server.owner.raw("PUNSUBSCRIBE") == b">3\r\n$12\r\npunsubscribe\r\n_\r\n:1\r\n"


def test_a_subscriber_runs_few_commands_in_resp2_and_all_in_resp3(server: Any) -> None:
    server.send_line("SUBSCRIBE a")
    assert server.send_line("GET k") == ONLY
    assert server.send_line("PING") == [b"pong", b""]
    assert server.send_line("PING hello") == [b"pong", b"hello"]
    assert server.send_line("RESET") == b"RESET"
    server.send_line("HELLO 3")
    server.send_line("SUBSCRIBE a")
    assert server.send_line("GET k") is None
    assert server.send_line("PING") == b"PONG"


def test_the_last_unsubscription_gives_all_commands_back(server: Any) -> None:
    for line in ("SUBSCRIBE a", "SSUBSCRIBE a", "UNSUBSCRIBE"):
        server.send_line(line)
    assert server.send_line("GET k") == ONLY
    server.send_line("SUNSUBSCRIBE")
    assert server.send_line("GET k") is None


def test_reset_ends_all_subscriptions(server: Any) -> None:
    for line in ("SUBSCRIBE a", "PSUBSCRIBE a", "SSUBSCRIBE a", "RESET"):
        server.send_line(line)
    assert server.send_line("PUBLISH a x") == 0
    assert server.send_line("SPUBLISH a x") == 0
    assert server.send_line("PUBSUB NUMPAT") == 0


def test_answers_to_a_muted_client_are_not_suppressed(server: Any) -> None:
    guest = server.client()
    assert guest.send_line("CLIENT REPLY OFF") == NOTHING
    assert guest.send_line("SUBSCRIBE a") == [b"subscribe", b"a", 1]
    server.send_line("PUBLISH a x")
    assert guest.reply() == [b"message", b"a", b"x"]


def test_in_a_transaction_each_answer_stands_in_the_array(server: Any) -> None:
    for line in ("MULTI", "SUBSCRIBE a", "GET k", "UNSUBSCRIBE a"):
        server.send_line(line)
    answers = [[b"subscribe", b"a", 1], None, [b"unsubscribe", b"a", 0]]
    assert server.send_line("EXEC") == answers
    assert server.send_line("GET k") is None


def test_what_a_transaction_publishes_to_itself_comes_behind_its_array(server: Any) -> None:
    server.send_line("HELLO 3")
    for line in ("MULTI", "SUBSCRIBE a", "PUBLISH a x", "EXEC"):
        server.send_line(line)
    assert server.owner.client.out.size() == 0
    server.send_line("MULTI")
    server.send_line("PUBLISH a y")
    message = b">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\ny\r\n"
    assert server.owner.raw("EXEC") == b"*1\r\n:1\r\n" + message


def test_what_is_subscribed_and_published_in_one_transaction_comes_behind_its_array(
    server: Any,
) -> None:
    server.send_line("MULTI")
    server.send_line("SUBSCRIBE a")
    server.send_line("PUBLISH a x")
    assert server.send_line("EXEC") == [[b"subscribe", b"a", 1], 1]
    assert replies(server.owner) == [[b"message", b"a", b"x"]]


def test_a_waiting_subscriber_gets_its_messages(server: Any) -> None:
    guest = server.client()
    guest.send_line("HELLO 3")
    guest.send_line("SUBSCRIBE a")
    assert guest.send_line("BLPOP l 0") == NOTHING
    server.send_line("PUBLISH a x")
    assert guest.client.out.take() == b">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n"
    assert guest.waits


def test_a_woken_subscriber_hears_of_its_own_change_behind_its_reply(server: Any) -> None:
    server.send_line("CONFIG SET notify-keyspace-events El")
    guest = server.client()
    guest.send_line("HELLO 3")
    guest.send_line("SUBSCRIBE __keyevent@0__:lpop")
    guest.send_line("BLPOP l 0")
    server.send_line("RPUSH l x")
    out = guest.client.out.take()
    assert out.startswith(b"*2\r\n$1\r\nl\r\n$1\r\nx\r\n>3\r\n$7\r\nmessage\r\n")


def test_inside_a_script_it_is_an_error(server: Any, declare: Any) -> None:
    def script(call: Any) -> Any:
        return call.server.scripting.run.caller.run_inside(
            call.client, [b"SUBSCRIBE", b"a"], call.server.scripting.run
        )

    declare("SCRIPTED", script)
    assert server.send_line("SCRIPTED") == ("-ERR This Redis command is not allowed from script")
    assert server.state.pubsub.clients == 0
