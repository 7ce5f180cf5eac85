"""SORT: what it stores, and what must not change; the replies are in tests/compat."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "line",
    [
        "SORT l STORE dst FOO", "SORT texts STORE dst", "SORT s STORE dst", "SORT_RO l STORE dst",
        "SORT l LIMIT x 1 STORE dst", "SORT l BY text_* STORE dst",
    ],
)  # fmt: skip
def test_a_refused_sort_stores_nothing(server, line):
    server.send_line("RPUSH l 2 1")
    server.send_line("RPUSH texts a b")
    server.send_line("MSET s v text_1 a text_2 b")
    server.send_line("SET dst before")
    server.logged()
    assert server.send_line(line).startswith("-")
    assert server.send_line("GET dst") == b"before"
    assert server.logged() == []


def test_a_stored_set_is_in_order_even_if_nothing_is_to_be_compared(server):
    server.send_line("SADD s c a b")
    server.send_line("SORT s BY nosort STORE dst")
    assert server.send_line("LRANGE dst 0 -1") == [b"a", b"b", b"c"]


def test_a_sort_that_is_stored_wakes_who_waits_for_the_list(server):
    client = server.client()
    client.send_line("BLPOP dst 0")
    server.send_line("RPUSH l 2 1")
    assert server.send_line("SORT l STORE dst") == 2
    assert client.reply() == [b"dst", b"1"]


def test_equal_numbers_are_ordered_by_their_texts(server):
    server.send_line("RPUSH l 1.0 1 01")
    assert server.send_line("SORT l") == [b"01", b"1", b"1.0"]
    assert server.send_line("SORT l DESC") == [b"1.0", b"1", b"01"]
