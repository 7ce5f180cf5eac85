"""ACL's other subcommands, and what nobody gets to see: passwords."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from server.table.command import TABLE


def as_dict(flat):
    return dict(zip(flat[::2], flat[1::2], strict=True))


def test_getuser_is_a_map_whose_flags_are_a_set_in_resp3(server):
    server.send("HELLO", 3)
    server.send_line("ACL SETUSER ann (~a)")
    assert server.owner.raw("ACL", "GETUSER", "ann") == (
        b"%6\r\n$5\r\nflags\r\n~2\r\n$3\r\noff\r\n$16\r\nsanitize-payload\r\n"
        b"$9\r\npasswords\r\n*0\r\n$8\r\ncommands\r\n$5\r\n-@all\r\n$4\r\nkeys\r\n$0\r\n\r\n"
        b"$8\r\nchannels\r\n$0\r\n\r\n$9\r\nselectors\r\n*1\r\n%3\r\n"
        b"$8\r\ncommands\r\n$5\r\n-@all\r\n$4\r\nkeys\r\n$2\r\n~a\r\n$8\r\nchannels\r\n$0\r\n\r\n"
    )


def test_the_time_since_an_entry_of_the_log_is_in_seconds(server):
    server.send("AUTH", "nobody", "x")
    server.advance(1500)
    entry = as_dict(server.send("ACL", "LOG")[0])
    assert entry[b"age-seconds"] == b"1.5"
    assert entry[b"timestamp-created"] == entry[b"timestamp-last-updated"] == 1_700_000_000_000
    assert b"user=default" in entry[b"client-info"]


def test_a_generated_password_has_as_many_digits_as_it_needs(server):
    assert len(server.send("ACL", "GENPASS")) == 64
    assert [len(server.send("ACL", "GENPASS", bits)) for bits in (1, 4, 5, 4096)] == [1, 1, 2, 1024]
    assert server.send("ACL", "GENPASS") != server.send("ACL", "GENPASS")


def test_each_category_of_a_command_is_one_that_acl_cat_lists(server):
    known = {category.decode() for category in server.send("ACL", "CAT")}
    for parent in TABLE:
        for row in (parent, *parent.subcommands.values()):
            assert row.acl <= known, row.name


SECRET_LINES = [
    "ACL SETUSER ann >geheim",
    "ACL SETUSER ann <geheim",
    "ACL SETUSER ann (>geheim)",
    "ACL DRYRUN default AUTH ann geheim",
    "AUTH ann geheim",
    "AUTH geheim",
    "HELLO 3 AUTH ann geheim",
    "CONFIG SET requirepass geheim",
    "CONFIG SET masterauth geheim",
]


@pytest.mark.parametrize("line", SECRET_LINES)
def test_no_password_is_shown_to_anybody_else(make_server, line, caplog):
    server = make_server(slowlog_log_slower_than=0)
    monitor = server.client()
    monitor.send("MONITOR")
    monitor.client.out.take()
    client = server.client()
    client.send_line(line)
    seen = [
        monitor.client.out.take(),
        repr(server.send("SLOWLOG", "GET", -1)).encode(),
        repr(server.send("ACL", "LOG")).encode(),
        repr(server.send("CLIENT", "LIST")).encode(),
        repr(server.send("ACL", "LIST")).encode(),
        repr(server.send("INFO", "everything")).encode(),
        caplog.text.encode(),
    ]
    assert not any(b"geheim" in text for text in seen)


def test_the_examples_of_the_page_on_security_are_accepted(server):
    page = (Path(__file__).parents[4] / "docs" / "security.md").read_text()
    examples = re.findall(r"^(ACL SETUSER [^#\n]*)", page, re.MULTILINE)
    assert len(examples) > 3
    assert {server.send_line(line) for line in examples} == {b"OK"}


def test_a_failed_login_tells_nothing_of_why(server):
    server.send_line("ACL SETUSER on-duty on >pw")
    server.send_line("ACL SETUSER off-duty off >pw")
    replies = {server.send("AUTH", name, "x") for name in ("on-duty", "off-duty", "nobody")}
    assert len(replies) == 1
    assert server.send("AUTH", "off-duty", "pw") in replies
