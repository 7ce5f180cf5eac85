"""MGET, MSET and MSETNX, as redis 7.0.15 answers them."""

from __future__ import annotations


def test_mget_answers_null_for_missing_keys_and_other_types(server):
    server.send_line("MSET a 1 b 2")
    server.send_line("RPUSH s x")
    assert server.send_line("MGET a no s b a") == [b"1", None, None, b"2", b"1"]


def test_mset_takes_the_last_value_of_a_repeated_key(server):
    server.send_line("MSET a 1 a 2")
    assert server.send_line("GET a") == b"2"


def test_msetnx_sets_all_or_none(server):
    assert server.send_line("MSETNX a 1 b 2") == 1
    assert server.send_line("MSETNX c 1 b 3") == 0
    assert server.send_line("MGET a b c") == [b"1", b"2", None]
