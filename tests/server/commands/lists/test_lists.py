"""List commands: numbers that are out of bounds, and encodings, as redis has them."""

from __future__ import annotations

import pytest

NO_NEGATIVE = (
    "-ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
)
NOT_AN_INTEGER = "-ERR value is not an integer or out of range"


@pytest.mark.parametrize("key", ["l", "missing"])
def test_lrem_refuses_the_smallest_integer_as_its_count(server, key):
    server.send_line("RPUSH l a b a")
    assert server.send_line(f"LREM {key} -9223372036854775808 a") == NO_NEGATIVE
    assert server.send_line("LRANGE l 0 -1") == [b"a", b"b", b"a"]


def test_lrem_takes_the_second_smallest_integer_as_its_count(server):
    server.send_line("RPUSH l a b a")
    assert server.send_line("LREM l -9223372036854775807 a") == 2
    assert server.send_line("LRANGE l 0 -1") == [b"b"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("COUNT abc", "-ERR COUNT can't be negative"),
        ("COUNT -1", "-ERR COUNT can't be negative"),
        ("MAXLEN abc", "-ERR MAXLEN can't be negative"),
        ("COUNT x RANK x", "-ERR COUNT can't be negative"),
        ("RANK x COUNT x", NOT_AN_INTEGER),
        ("RANK -9223372036854775808", NO_NEGATIVE),
    ],
)
def test_lpos_reports_the_first_bad_number(server, options, error):
    assert server.send_line(f"LPOS l a {options}") == error


# ---------------------------------------------------------------------- encodings, as of 8.0.6


def encodings(server, lines):
    """OBJECT ENCODING of l after each of *lines*."""
    found = []
    for line in lines:
        server.send_line(line)
        found.append(server.send_line("OBJECT ENCODING l").decode())
    return found


def set_max_listpack_size(server, size):
    server.send_line(f"CONFIG SET list-max-listpack-size {size}")


@pytest.mark.parametrize(
    ("change", "encoding"),
    [
        ("RPUSH l x", "quicklist"),
        ("LPUSH l x", "quicklist"),
        ("LINSERT l BEFORE 5 x", "quicklist"),
        ("LSET l 0 x", "quicklist"),
        ("RPOP l", "listpack"),
        ("LTRIM l 0 -2", "listpack"),
        ("LREM l 0 5", "listpack"),
    ],
)
def test_a_list_beyond_the_current_limit_is_converted_only_when_it_grows(server, change, encoding):
    set_max_listpack_size(server, 128)
    server.send("RPUSH", "l", *range(10))
    set_max_listpack_size(server, 4)
    assert server.send_line("OBJECT ENCODING l") == b"listpack"
    assert encodings(server, [change]) == [encoding]


@pytest.mark.parametrize("pop", ["RPOP l", "BRPOP l 0", "LMPOP 1 l RIGHT", "LMOVE l m RIGHT LEFT"])
def test_a_list_that_shrinks_is_encoded_by_the_current_limit(server, pop):
    set_max_listpack_size(server, 4)
    server.send("RPUSH", "l", *range(5))
    set_max_listpack_size(server, -2)
    assert encodings(server, [pop]) == ["listpack"]


def test_a_list_of_several_nodes_shrinks_by_the_current_limit(server):
    set_max_listpack_size(server, 4)
    server.send("RPUSH", "l", *range(10))
    set_max_listpack_size(server, 128)
    assert encodings(server, ["RPUSH l x", "RPOP l"]) == ["quicklist", "quicklist"]
    assert encodings(server, ["RPOP l"] * 6)[-1] == "listpack"


def test_lset_on_a_full_list_counts_as_growth(server):
    set_max_listpack_size(server, 4)
    server.send("RPUSH", "l", *range(4))
    assert encodings(server, ["LSET l 0 x", "RPOP l", "RPOP l"]) == [
        "quicklist", "quicklist", "listpack",
    ]  # fmt: skip


def test_a_list_whose_large_element_is_replaced_becomes_a_listpack_again(server):
    set_max_listpack_size(server, -1)
    server.send("RPUSH", "l", "a", "x" * 5000)
    assert encodings(server, ["LSET l 1 x"]) == ["quicklist"]
    assert encodings(server, ["RPOP l"]) == ["listpack"]
    server.send("DEL", "l")
    server.send("RPUSH", "l", "x" * 5000)
    assert encodings(server, ["LSET l 0 x"]) == ["listpack"]


def test_a_restored_or_copied_list_is_encoded_by_the_current_limit(server):
    server.send("RPUSH", "l", *range(10))
    payload = server.send_line("DUMP l")
    set_max_listpack_size(server, 4)
    server.send("RESTORE", "l", 0, payload, "REPLACE")
    assert encodings(server, ["COPY l l2", "COPY l2 l REPLACE"]) == ["quicklist", "quicklist"]
    set_max_listpack_size(server, 10)
    server.send("RESTORE", "l", 0, payload, "REPLACE")
    assert server.send_line("OBJECT ENCODING l") == b"listpack"
