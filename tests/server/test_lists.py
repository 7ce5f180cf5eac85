"""List commands: numbers that are out of bounds, as redis answers them."""

from __future__ import annotations

import pytest

NO_NEGATIVE = (
    "-ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
)
NOT_AN_INTEGER = "-ERR value is not an integer or out of range"


@pytest.mark.parametrize("key", ["l", "missing"])
def test_the_smallest_integer_is_no_count_for_lrem(house, key):
    house.send_line("RPUSH l a b a")
    assert house.send_line(f"LREM {key} -9223372036854775808 a") == NO_NEGATIVE
    assert house.send_line("LRANGE l 0 -1") == [b"a", b"b", b"a"]


def test_lrem_takes_the_integer_above_it_for_all_from_the_tail(house):
    house.send_line("RPUSH l a b a")
    assert house.send_line("LREM l -9223372036854775807 a") == 2
    assert house.send_line("LRANGE l 0 -1") == [b"b"]


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
def test_lpos_says_of_the_first_bad_number_what_is_wrong(house, options, error):
    assert house.send_line(f"LPOS l a {options}") == error
