"""Marks, as the plain Python functions edit them."""

from __future__ import annotations

from storage.hash_table import mark_octets


def test_the_plain_python_functions_edit_marks_consistently() -> None:
    marks = bytearray()
    for number, prefix in enumerate((5, 9, 7)):
        at = mark_octets.first_from(marks, number // 2, prefix)
        mark_octets.insert_mark(marks, at, prefix, 2**32 + number)
    assert mark_octets.count(marks) == 3
    assert [mark_octets.prefix_at(marks, at) for at in range(3)] == [5, 7, 9]
    assert [mark_octets.number_at(marks, at) for at in range(3)] == [0, 2, 1]
    mark_octets.put_number(marks, 1, 77)
    mark_octets.remove_mark(marks, 0)
    assert (mark_octets.number_at(marks, 0), mark_octets.count(marks)) == (77, 2)


def test_a_guess_is_the_share_of_the_prefixes_that_are_smaller() -> None:
    marks = bytearray(100 * mark_octets.MARK)
    assert mark_octets.guess(marks, 0, 0) == 0
    assert mark_octets.guess(marks, 0, 2**31) == 50
    assert mark_octets.guess(marks, 0, 2**32 - 1) == 99
    assert mark_octets.guess(marks, 1, 2**31 + 2**30) == 50


def test_a_mark_is_two_little_endian_numbers() -> None:
    marks = bytearray()
    mark_octets.insert_mark(marks, 0, 0x01020304, 0x05060708)
    assert marks.hex() == "0403020108070605"
