"""Pages: reading by columns and value by value gives the same result."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyspark_penstock.errors import ServerError
from pyspark_penstock.read.page import Page, as_one, mixed, parse
from pyspark_penstock.read.uniform_page import UniformPage, uniform
from tests.spark.answers import NASTY, Entry, answer, entries

PLAIN: list[Entry] = [(b"%d-0" % i, [(b"device", b"d%d" % i), (b"t", b"")]) for i in range(1, 20)]


def strings_of(page: Page) -> list[list[bytes]]:
    starts, strings = page.fields()
    flat = strings.to_pylist()
    return [flat[a:b] for a, b in pairwise(starts)]


def check_page(page: Page, given_entries: list[Entry]) -> None:
    assert len(page) == len(given_entries)
    assert page.ids.to_pylist() == [entry_id for entry_id, _ in given_entries]
    assert strings_of(page) == [[s for pair in f for s in pair] for _, f in given_entries]
    for name in {name for _, fields in given_entries for name, _ in fields}:
        found = page.column(name)
        assert found is not None
        assert found.to_pylist() == [dict(fields).get(name) for _, fields in given_entries]
    assert page.column(b"no such field") is None
    assert page.last_id == given_entries[-1][0]


@settings(deadline=None)
@given(entries())
def test_any_page_is_read_correctly(given_entries: list[Entry]) -> None:
    text = answer(given_entries)
    check_page(parse(text), given_entries)
    check_page(mixed(text), given_entries)


def test_a_page_of_entries_of_one_shape_is_read_by_columns() -> None:
    page = uniform(answer(PLAIN))
    assert page is not None
    check_page(page, PLAIN)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([(b"a long name of a field", b"")], [(b"a", b"")]),
        ([(b"a", b""), (b"b", b"")], [(b"a", b"\n\n\n\n")]),
    ],
)
def test_misplaced_lines_do_not_lead_beyond_the_end(
    first: list[tuple[bytes, bytes]], second: list[tuple[bytes, bytes]]
) -> None:
    given_entries = [(b"0-0", first), (b"0-1", second)]
    assert uniform(answer(given_entries)) is None
    check_page(parse(answer(given_entries)), given_entries)


@pytest.mark.parametrize("length", [0, 1, 9, 10, 99, 100, 999])
def test_values_of_up_to_999_bytes_are_read_by_columns(length: int) -> None:
    given_entries: list[Entry] = [(b"1-1", [(b"abcd", b"v" * length)]), (b"1-2", [(b"abcd", b"")])]
    page = uniform(answer(given_entries))
    assert page is not None
    check_page(page, given_entries)


@pytest.mark.parametrize(
    "fields",
    [
        [(b"device", b"d\r\n"), (b"t", b"")],  # a line break inside
        [(b"device", b"d" * 1000), (b"t", b"")],  # too long
        [(b"devicf", b"d"), (b"t", b"")],  # another name
        [(b"device", b"d")],  # a field less
        [(b"device", b"d"), (b"t", b""), (b"u", b"")],  # a field more
        [(b"t", b""), (b"device", b"d")],  # another order
    ],
)
@pytest.mark.parametrize("at", [0, 7, -1])
def test_a_page_with_an_entry_of_another_shape_is_not_read_by_columns(
    fields: list[tuple[bytes, bytes]], at: int
) -> None:
    given_entries = list(PLAIN)
    given_entries[at] = (given_entries[at][0], fields)
    assert uniform(answer(given_entries)) is None
    check_page(parse(answer(given_entries)), given_entries)


def test_a_value_that_looks_like_headers_is_not_misread() -> None:
    """One value has two line breaks too many, the next entry two lines too few."""
    tricky: list[Entry] = [
        (b"1-1", [(b"a", b"x\r\n$1\r\na"), (b"b", b"y")]),
        (b"1-2", [(b"a", b"x")]),
    ]
    assert uniform(answer(tricky)) is None
    check_page(parse(answer(tricky)), tricky)


SHORT: list[Entry] = [
    (b"1-1", [(b"a", b""), (b"b", b"12345")]),
    (b"1-2", [(b"a", b"1\r"), (b"b", b"x" * 10)]),
    (b"1-3", [(b"a", b"$"), (b"b", b"x" * 100)]),
]


def check_not_misread(text: bytes) -> None:
    """The page is either not read by columns, or read as hiredis reads it."""
    page = uniform(text)
    if page is not None:
        expected = mixed(text)
        assert strings_of(page) == strings_of(expected)
        assert page.ids.to_pylist() == expected.ids.to_pylist()


@pytest.mark.parametrize("wrong", [bytes([byte]) for byte in b"\r\n$*012359x"])
def test_no_single_wrong_byte_is_misread(wrong: bytes) -> None:
    text = answer(SHORT)
    for at in range(len(text) + 1):
        check_not_misread(text[:at] + wrong + text[at + 1 :])
        check_not_misread(text[:at] + wrong + text[at:])
        check_not_misread(text[:at] + text[at + 1 :])


def test_a_page_read_by_columns_ends_with_a_line_break() -> None:
    assert uniform(answer(SHORT)) is not None
    assert uniform(answer(SHORT)[:-2] + b"x\n") is None


@settings(deadline=None)
@given(st.data())
def test_a_damaged_reply_is_never_misread(data: st.DataObject) -> None:
    text = bytearray(answer(data.draw(st.sampled_from([PLAIN[:3], SHORT]))))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        size = data.draw(st.integers(0, 3))
        text[at : at + size] = data.draw(st.one_of(st.binary(max_size=3), NASTY))
    check_not_misread(bytes(text))


@settings(deadline=None)
@given(entries(), st.sets(st.integers(1, 11)))
def test_joined_pages_equal_one_page(given_entries: list[Entry], cuts: set[int]) -> None:
    ends = [*sorted(at for at in cuts if at < len(given_entries)), len(given_entries)]
    parts = [given_entries[a:b] for a, b in pairwise([0, *ends])]
    check_page(as_one([parse(answer(part)) for part in parts]), given_entries)


def test_joined_pages_of_one_shape_are_uniform() -> None:
    page = as_one([parse(answer(PLAIN[:5])), parse(answer(PLAIN[5:6])), parse(answer(PLAIN[6:]))])
    assert isinstance(page, UniformPage)
    check_page(page, PLAIN)


def test_joined_pages_of_different_shapes_keep_their_fields() -> None:
    """They have the same number of bytes and lines, but different names."""
    other: list[Entry] = [(b"20-0", [(b"device", b"d"), (b"u", b"1")])]
    check_page(as_one([parse(answer(PLAIN)), parse(answer(other))]), [*PLAIN, *other])


@pytest.mark.parametrize("text", [b"+OK\r\n", b":1\r\n", b"*1\r\n*2\r\n", b"*0\r\n*0\r\n"])
def test_a_reply_that_is_not_a_page_is_refused(text: bytes) -> None:
    with pytest.raises(ServerError, match="XRANGE was answered by"):
        parse(text)
