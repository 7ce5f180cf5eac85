"""Messages are encoded once for each version of the protocol."""

from __future__ import annotations

import pytest

from server.parts.pubsub.message import Message


@pytest.mark.parametrize(("resp", "mark"), [(2, b"*"), (3, b">")])
def test_a_message_is_an_array_in_resp2_and_a_push_in_resp3(resp: int, mark: bytes) -> None:
    message = Message([b"message", b"news", b"a\r\nb"])
    expected = mark + b"3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$4\r\na\r\nb\r\n"
    assert message.encoded(resp) == expected


def test_all_subscribers_get_the_same_bytes_object() -> None:
    message = Message([b"message", b"news", b"x" * 100])
    assert message.encoded(2) is message.encoded(2)
    assert message.encoded(3) is message.encoded(3)
