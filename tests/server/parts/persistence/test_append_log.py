"""AppendLog: what it writes, when it syncs, and what it does when the disk fails."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.parts.persistence.fake_files import BROKEN, FULL
from tests.server.parts.persistence.log_site import PATH, SET, Site

NEXT = Path("next")
SELECT_0 = b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"
SELECT_1 = b"*2\r\n$6\r\nSELECT\r\n$1\r\n1\r\n"
SET_BYTES = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"
MULTI = b"*1\r\n$5\r\nMULTI\r\n"
EXEC = b"*1\r\n$4\r\nEXEC\r\n"


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def strict() -> Site:
    return Site("always")


# ---------------------------------------------------------------------- contents


def test_nothing_is_written_before_the_turn_ends(site: Site) -> None:
    site.add()
    assert site.text == b""
    assert site.log.pending == len(SELECT_0 + SET_BYTES)
    assert site.log.write()
    assert site.text == SELECT_0 + SET_BYTES
    assert site.log.pending == 0


def test_all_of_a_turn_is_one_write(site: Site) -> None:
    site.add()
    site.add()
    site.log.write()
    assert site.files.steps.count("write") == 1


def test_a_turn_without_writes_touches_no_file(strict: Site) -> None:
    before = list(strict.files.steps)
    assert strict.log.write()
    assert strict.files.steps == before


def test_the_database_is_selected_only_when_it_changes(site: Site) -> None:
    for db in (0, 0, 12, 0):
        site.add(db=db)
    site.log.write()
    select_12 = b"*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n"
    assert site.text == (
        SELECT_0 + SET_BYTES + SET_BYTES + select_12 + SET_BYTES + SELECT_0 + SET_BYTES
    )


def test_several_ops_are_a_transaction_with_select_before_it(site: Site) -> None:
    site.log.add_all([(0, SET), (0, SET)])
    site.log.write()
    assert site.text == MULTI + SELECT_0 + SET_BYTES + SET_BYTES + EXEC


def test_a_new_file_selects_the_database_anew(site: Site) -> None:
    site.add()
    rewrite(site)
    site.add()
    site.log.write()
    assert site.files.get(NEXT) == SELECT_0 + SET_BYTES


def test_timestamps_are_written_once_a_second_and_never_inside_a_transaction(site: Site) -> None:
    site.config.aof_timestamp_enabled = True
    site.add()
    site.add()
    site.unix_s += 1
    site.log.add_all([(1, SET), (1, SET)])
    site.log.write()
    assert site.text == (
        b"#TS:1700000000\r\n" + SELECT_0 + SET_BYTES + SET_BYTES
        + b"#TS:1700000001\r\n" + MULTI + SELECT_1 + SET_BYTES * 2 + EXEC
    )  # fmt: skip


# ---------------------------------------------------------------------- always


def test_always_syncs_before_replies_are_sent(strict: Site) -> None:
    strict.add()
    assert strict.log.write()
    assert strict.on_disk == SELECT_0 + SET_BYTES
    assert strict.log.synced_offset == strict.log.offset


@pytest.mark.parametrize("step", ["write", "sync"])
def test_always_promises_nothing_when_the_disk_fails(strict: Site, step: str) -> None:
    strict.fail(step)
    strict.add()
    assert not strict.log.write()
    assert strict.log.synced_offset < strict.log.offset
    assert "No space left on device" in strict.log.error


def test_always_repeats_a_write_that_failed(strict: Site) -> None:
    strict.fail("write")
    strict.add()
    strict.log.write()
    strict.mend()
    assert strict.log.write()
    assert strict.on_disk == SELECT_0 + SET_BYTES
    assert strict.log.error == ""


# ---------------------------------------------------------------------- everysec


def test_everysec_fsyncs_in_the_thread_once_a_second(site: Site) -> None:
    site.add()
    site.log.write()
    assert not site.log.is_syncing
    site.pass_s(1)
    site.log.write()
    assert site.log.is_syncing
    assert site.syncs() == 0
    site.thread.run()
    assert (site.syncs(), site.synced_calls) == (1, 1)
    site.log.write()
    assert site.log.synced_offset == site.log.offset
    assert not site.log.is_syncing


def test_everysec_does_not_count_as_synced_what_is_added_during_an_fsync(site: Site) -> None:
    site.add()
    site.log.write()
    safe = site.log.offset
    site.pass_s(1)
    site.log.write()
    site.add()
    site.thread.run()
    site.log.write()
    assert site.log.synced_offset == safe < site.log.offset


def test_everysec_does_not_fsync_without_new_data(site: Site) -> None:
    site.pass_s(10)
    site.log.write()
    assert not site.log.is_syncing


def slow_disk(site: Site) -> None:
    """Leave an fsync under way that does not end, and something to write."""
    site.add()
    site.log.write()
    site.pass_s(1)
    site.log.write()
    site.add()


@pytest.mark.parametrize("failing", [False, True])
def test_everysec_writes_before_answers_leave_whatever_fsync_is_under_way(
    site: Site, failing: bool
) -> None:
    """Otherwise a process that is killed loses what it has answered."""
    slow_disk(site)
    assert site.log.is_syncing
    assert site.log.write()
    assert site.text == SELECT_0 + SET_BYTES + SET_BYTES
    assert site.log.pending == 0
    if failing:
        site.fail("sync", BROKEN)
    site.thread.run()
    site.add()
    assert site.log.write()
    assert site.text == SELECT_0 + SET_BYTES * 3


def test_everysec_counts_an_fsync_that_takes_two_seconds_and_tells_of_it(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    slow_disk(site)
    for seconds, delayed in ((0, 0), (1.9, 0), (0.1, 1), (1.9, 1), (0.1, 1), (2, 2)):
        site.pass_s(seconds)
        site.add()
        site.log.write()
        assert site.log.delayed_syncs == delayed
    assert "Asynchronous AOF fsync is taking too long (disk is busy?)" in caplog.text


def test_everysec_does_not_count_fsyncs_that_are_quick(site: Site) -> None:
    slow_disk(site)
    for _ in range(5):
        site.log.write()
        site.thread.run()
        site.pass_s(1.5)
        site.add()
    assert site.log.delayed_syncs == 0


# ---------------------------------------------------------------------- no; and while a child runs


def test_appendfsync_no_syncs_only_at_the_end(site: Site) -> None:
    site.config.appendfsync = "no"
    site.add()
    site.log.write()
    site.pass_s(100)
    site.log.write()
    site.thread.run()
    assert site.syncs() == 0
    site.log.close()
    assert site.on_disk == SELECT_0 + SET_BYTES


@pytest.mark.parametrize("policy", ["always", "everysec"])
def test_no_appendfsync_on_rewrite_does_not_sync_while_a_child_runs(policy: str) -> None:
    site = Site(policy)
    site.config.no_appendfsync_on_rewrite = True
    site.busy = True
    site.add()
    site.pass_s(5)
    assert site.log.write()
    site.thread.run()
    assert site.syncs() == 0
    assert site.log.synced_offset == 0
    site.busy = False
    site.log.write()
    site.thread.run()
    site.log.write()
    assert site.log.synced_offset == site.log.offset


def test_make_safe_syncs_even_while_a_child_runs(site: Site) -> None:
    site.config.no_appendfsync_on_rewrite = True
    site.busy = True
    site.add()
    assert site.log.write_and_sync()
    assert site.on_disk == SELECT_0 + SET_BYTES


# ---------------------------------------------------------------------- writes that fail


def test_a_short_write_is_truncated_and_repeated(site: Site) -> None:
    site.files.short_writes = True
    site.fail("write")
    site.add()
    assert site.log.write()
    assert site.text == b""
    assert site.log.error == "No space left on device"
    site.mend()
    site.log.write()
    assert site.text == SELECT_0 + SET_BYTES
    assert site.log.error == ""


def test_a_short_write_that_cannot_be_truncated_is_continued(site: Site) -> None:
    site.files.short_writes = True
    site.files.plan = lambda number, name: FULL if name in {"write", "truncate"} else None
    site.add()
    site.log.write()
    assert 0 < len(site.text) < len(SELECT_0 + SET_BYTES)
    site.mend()
    site.log.write()
    assert site.text == SELECT_0 + SET_BYTES
    assert site.log.file_size == len(site.text)


def test_failures_are_logged_every_thirty_seconds_at_most(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "penstock")
    site.fail("write", BROKEN)
    site.add()
    for _ in range(31):
        site.log.write()
        site.pass_s(1)
    assert len(caplog.records) == 2
    assert caplog.records[0].getMessage() == "Error writing to the AOF file: Input/output error"


def test_a_unit_that_cannot_be_added_as_a_whole_is_not_added(site: Site) -> None:
    """Otherwise the next start would fail at the part that was added."""
    site.add()
    with pytest.raises(TypeError):
        site.log.add_all([(3, SET), (3, [b"SET", 5])])  # type: ignore[list-item]
    site.add()
    assert site.log.write()
    assert site.text == SELECT_0 + SET_BYTES + SELECT_0 + SET_BYTES
    assert site.log.offset == len(site.text)


def test_a_closed_log_says_whether_replies_may_be_sent(strict: Site) -> None:
    strict.add()
    strict.log.close()
    assert strict.log.write()
    failing = Site("always")
    failing.fail("sync")
    failing.add()
    failing.log.close()
    assert not failing.log.write()


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["add", "write", "fail", "short", "mend", "pass"]), max_size=40))
def test_whatever_fails_the_file_is_a_prefix_of_what_was_added(steps: list[str]) -> None:
    site = Site()
    added = b""
    for step in steps:
        if step == "add":
            site.add(b"SET", b"k", b"%d" % len(added))
            added += b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%d\r\n" % (
                len(b"%d" % len(added)), len(added),
            )  # fmt: skip
        elif step == "write":
            site.log.write()
        elif step == "pass":
            site.pass_s(1)
            site.thread.run()
        elif step == "mend":
            site.mend()
        else:
            site.files.short_writes = step == "short"
            site.fail("write")
        assert (SELECT_0 + added).startswith(site.text)
        assert site.log.offset == len(site.text) + site.log.pending
        assert site.log.synced_offset <= len(site.on_disk)
        assert site.log.file_size == len(site.text)
    site.mend()
    site.thread.run()
    site.log.write()
    assert site.text == (SELECT_0 + added if added else b"")


# ---------------------------------------------------------------------- fsyncs that fail


def broken(policy: str) -> Site:
    """An AOF whose fsync has failed."""
    site = Site(policy)
    site.fail("sync", BROKEN)
    site.add()
    site.log.write()
    site.pass_s(1)
    site.log.write()
    site.thread.run()
    site.log.write()
    site.mend()
    return site


@pytest.mark.parametrize("policy", ["always", "everysec"])
def test_a_failed_fsync_is_never_tried_again(policy: str) -> None:
    site = broken(policy)
    assert site.log.broken
    assert site.log.error == "fsync: Input/output error"
    syncs = site.syncs()
    for _ in range(3):
        site.add()
        assert site.log.write() == (policy != "always")
        site.pass_s(2)
        site.thread.run()
    assert site.syncs() == syncs
    assert site.log.synced_offset == 0


def rewrite(site: Site) -> int:
    """Go on in the next file, as a rewrite does. Returns the offset that its base reaches."""
    is_safe = site.log.write_and_sync()
    site.log.move_to(site.files.open_to_append(NEXT), tentative=not is_safe)
    return site.log.offset


def test_a_base_makes_up_for_data_lost_before_it() -> None:
    site = broken("always")
    begun = rewrite(site)
    site.add()
    assert not site.log.write()
    site.log.base_written(begun)
    assert (site.log.broken, site.log.error) == (False, "")
    assert site.log.synced_offset == begun
    assert site.log.write()
    assert site.log.synced_offset == site.log.offset


def test_a_base_does_not_make_up_for_data_lost_after_it_was_begun(strict: Site) -> None:
    strict.add()
    strict.log.write()
    begun = rewrite(strict)
    strict.thread.run()
    strict.fail("sync", BROKEN)
    strict.add()
    assert not strict.log.write()
    strict.mend()
    strict.log.base_written(begun)
    assert strict.log.broken
    assert not strict.log.write()
    assert strict.log.synced_offset == begun


def tentative(site: Site) -> int:
    """Leave a file without a base while it is synced. Returns the offset of the next file."""
    site.log.close()
    site.log.open(site.files.open_to_append(PATH), 0, tentative=True)
    slow_disk(site)
    site.fail("sync", BROKEN)
    site.log.move_to(site.files.open_to_append(NEXT), tentative=True)
    return site.log.offset


def test_a_failed_sync_of_the_old_file_breaks_the_log_until_there_is_a_base(site: Site) -> None:
    begun = tentative(site)
    site.thread.run()
    site.add()
    site.log.write()
    assert site.log.broken
    site.log.base_written(begun)
    assert not site.log.broken


def test_a_failed_sync_of_the_old_file_does_no_harm_once_there_is_a_base(site: Site) -> None:
    begun = tentative(site)
    site.log.base_written(begun)
    site.thread.run()
    site.log.write()
    assert not site.log.broken
    assert site.log.synced_offset == begun


# ---------------------------------------------------------------------- files


def test_a_file_without_a_base_promises_nothing_until_it_has_one(site: Site) -> None:
    site.log.close()
    site.log.open(site.files.open_to_append(NEXT), 0, tentative=True)
    begun = site.log.offset
    site.add()
    site.log.write_and_sync()
    assert site.log.synced_offset == begun == 0
    site.log.base_written(begun)
    assert site.log.synced_offset == site.log.offset
    assert site.synced_calls == 1


@pytest.mark.parametrize("policy", ["always", "everysec", "no"])
def test_what_could_not_be_written_is_no_error_once_a_base_is_to_contain_it(policy: str) -> None:
    """Nothing is left that a later write could try again: the error would stay for good."""
    site = Site(policy)
    site.log.open(site.files.open_to_append(NEXT), 0, tentative=True)
    site.fail("write")
    site.add()
    site.log.write()
    assert site.log.error
    site.mend()
    site.log.move_to(site.files.open_to_append(Path("third")), tentative=True)
    assert site.log.error == ""
    assert site.log.write_and_sync()


def test_the_old_file_is_closed_by_the_thread(site: Site) -> None:
    site.add()
    rewrite(site)
    assert site.files.open_files == 2
    site.thread.run()
    assert site.files.open_files == 1


@pytest.mark.parametrize("policy", ["always", "everysec", "no"])
def test_the_next_file_is_begun_when_the_old_one_is_on_the_disk(policy: str) -> None:
    """The two would be no valid log if the old one could be torn by a power cut."""
    site = Site(policy)
    site.add()
    rewrite(site)
    assert site.on_disk == SELECT_0 + SET_BYTES
    site.add()
    site.log.write()
    assert site.files.get(NEXT) == SELECT_0 + SET_BYTES


def test_data_that_a_closed_log_could_not_write_never_gets_into_the_next_one(site: Site) -> None:
    site.fail("write")
    site.add()
    site.log.write()
    site.log.close()
    site.mend()
    site.log.open(site.files.open_to_append(NEXT), 0)
    assert site.log.error == ""
    site.add()
    site.log.write()
    assert site.files.get(NEXT) == SELECT_0 + SET_BYTES


@pytest.mark.parametrize("step", ["write", "sync", "close"])
def test_closing_never_raises(site: Site, step: str) -> None:
    site.add()
    site.fail(step)
    site.log.close()
    assert site.files.open_files == 0


@pytest.mark.parametrize(
    ("policy", "busy", "syncing", "events"),
    [
        ("no", False, False, [b"aof-write-alone", b"aof-write"]),
        ("no", True, False, [b"aof-write-active-child", b"aof-write"]),
        ("everysec", False, True, [b"aof-write-pending-fsync", b"aof-write"]),
        ("always", False, False, [b"aof-write-alone", b"aof-write", b"aof-fsync-always"]),
    ],
)
def test_it_tells_how_long_writing_and_syncing_took(
    policy: str, busy: bool, syncing: bool, events: list[bytes]
) -> None:
    site = Site(policy)
    site.latency_events.threshold_ms = 1
    site.busy = busy
    if syncing:
        site.pass_s(1)
        site.add()
        site.log.write()
        assert site.log.is_syncing
    site.add()
    site.files.plan = lambda _number, _name: site.pass_s(0.5)
    site.log.write()
    told = {event: one.worst_ms for event, one in site.latency_events.series.items()}
    assert told == dict.fromkeys(events, 500)
