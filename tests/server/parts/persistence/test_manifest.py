"""The manifest of the append-only file: as Redis writes it, and what both refuse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.parts.persistence import manifest
from server.parts.persistence.manifest import (
    BASE,
    HISTORY,
    INCREMENT,
    BadManifest,
    LogFile,
    Manifest,
)

REDIS_WROTE = (
    b"file appendonly.aof.2.base.rdb seq 2 type b\n"
    b"file appendonly.aof.1.base.rdb seq 1 type h\n"
    b"file appendonly.aof.1.incr.aof seq 1 type h\n"
    b"file appendonly.aof.2.incr.aof seq 2 type i\n"
    b"file appendonly.aof.3.incr.aof seq 3 type i\n"
)

NAMES = st.text(
    st.characters(exclude_characters="/", exclude_categories=["Cs"]), min_size=1
).filter(lambda name: name not in {".", ".."} and len(name.encode()) < 200)


def line(name: str = "a", seq: str = "1", kind: str = "i", more: str = "") -> bytes:
    return f"file {name} seq {seq} type {kind}{more}\n".encode()


def refusal(text: bytes) -> str:
    with pytest.raises(BadManifest) as error:
        manifest.parse(text)
    return str(error.value)


def test_a_manifest_of_redis_is_read_and_written_again_byte_for_byte() -> None:
    found = manifest.parse(REDIS_WROTE)
    assert found.base == LogFile("appendonly.aof.2.base.rdb", 2, BASE)
    assert [file.seq for file in found.increments] == [2, 3]
    assert [file.kind for file in found.history] == [HISTORY, HISTORY]
    assert found.encode() == REDIS_WROTE


def test_the_base_is_loaded_first_then_the_increments_and_history_never() -> None:
    names = [file.name for file in manifest.parse(REDIS_WROTE).files]
    assert names == [
        "appendonly.aof.2.base.rdb", "appendonly.aof.2.incr.aof", "appendonly.aof.3.incr.aof"
    ]  # fmt: skip


def test_an_increment_gets_the_next_number() -> None:
    assert manifest.parse(REDIS_WROTE).with_increment("appendonly.aof").increments[-1] == LogFile(
        "appendonly.aof.4.incr.aof", 4, INCREMENT
    )


@pytest.mark.parametrize(("snapshot", "suffix"), [(True, "rdb"), (False, "aof")])
def test_a_new_base_leaves_the_last_increment_and_makes_the_rest_history(
    snapshot: bool, suffix: str
) -> None:
    fresh = manifest.parse(REDIS_WROTE).with_base("appendonly.aof", snapshot)
    assert fresh.base == LogFile(f"appendonly.aof.3.base.{suffix}", 3, BASE)
    assert [file.seq for file in fresh.increments] == [3]
    assert {file.name for file in fresh.history} == {
        "appendonly.aof.1.base.rdb", "appendonly.aof.1.incr.aof",
        "appendonly.aof.2.base.rdb", "appendonly.aof.2.incr.aof",
    }  # fmt: skip
    assert fresh.without_history().history == ()


def test_a_new_increment_never_gets_the_name_of_a_history_file() -> None:
    text = line("appendonly.aof.2.base.rdb", "2", "b") + line("appendonly.aof.7.incr.aof", "7", "h")
    assert manifest.parse(text).with_increment("appendonly.aof").increments[0].seq == 8


@given(st.lists(NAMES, min_size=1, max_size=5, unique=True))
def test_any_name_is_read_as_it_was_written(names: list[str]) -> None:
    files = tuple(LogFile(name, seq, INCREMENT) for seq, name in enumerate(names, 1))
    written = Manifest(increments=files, increment_seq=len(files))
    assert manifest.parse(written.encode()) == written


def test_a_name_with_blanks_stands_in_quotes_as_redis_has_it() -> None:
    text = Manifest(increments=(LogFile('my "log"\x01\n', 1, INCREMENT),)).encode()
    assert text == b'file "my \\"log\\"\\x01\\n" seq 1 type i\n'


def test_comments_and_the_new_pairs_of_redis_8_are_skipped() -> None:
    text = b"# made by hand\n" + line(more=" startoffset 123 endoffset 4567")
    assert manifest.parse(text).increments == (LogFile("a", 1, INCREMENT),)


def test_the_pairs_may_stand_in_any_order() -> None:
    assert manifest.parse(b"type i seq 3 file a\n").increments == (LogFile("a", 3, INCREMENT),)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"# nothing\n",
        b"\n",
        line()[:-1],
        b"file a seq 1\n",
        b"file a seq 1 type i more\n",
        b'file "a seq 1 type i\n',
        line("../a"),
        line("folder/a"),
        line(".."),
        line('""'),
        line(seq="0"),
        line(seq="-1"),
        line(seq="x"),
        line(seq="9" * 30),
        line(kind="x"),
        line(kind='""'),
        line("a", "1", "b") + line("b", "2", "b"),
        line("a", "2") + line("b", "2"),
        line("a", "2") + line("b", "1"),
        line("a" * 1010),
    ],
)
def test_a_bad_manifest_is_refused(text: bytes) -> None:
    assert refusal(text)


@given(st.binary(max_size=60))
def test_bytes_before_a_manifest_are_refused_unless_they_are_comments(noise: bytes) -> None:
    try:
        manifest.parse(noise + b"\n" + REDIS_WROTE)
    except BadManifest:
        return
    assert all(row.startswith(b"#") for row in noise.split(b"\n") if row)


def test_a_manifest_with_a_checksum_is_read_and_any_flipped_bit_is_refused() -> None:
    """A flip made history of an increment: its letter is one bit from the other."""
    text = manifest.parse(REDIS_WROTE).encode(checksum=True)
    assert text.startswith(REDIS_WROTE)
    assert manifest.parse(text) == manifest.parse(REDIS_WROTE)
    tag = range(len(REDIS_WROTE) + 1, len(REDIS_WROTE) + len(manifest.CHECKSUM))
    for bit in range(8 * len(text)):
        changed = bytearray(text)
        changed[bit // 8] ^= 1 << bit % 8
        if bit // 8 in tag:  # another comment, and the same files
            assert manifest.parse(bytes(changed)) == manifest.parse(text)
        else:
            refusal(bytes(changed))
    assert "its checksum is another" in refusal(text.replace(b"3 type i", b"3 type h"))
