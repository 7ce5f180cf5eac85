"""The first line, from INFO."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.top.facts import read_facts

REPLICA = (
    "# Server\r\nredis_version:7.0.15\r\nuptime_in_seconds:120\r\n"
    "role:slave\r\nmaster_link_status:down\r\nused_memory:2048\r\nmaxmemory:4096\r\n"
)


def test_names_of_servers() -> None:
    for text, name in (
        ("redis_version:7.0.15\r\n", "Redis 7.0.15"),
        ("redis_version:7.2.4\r\nvalkey_version:9.1.2\r\n", "Valkey 9.1.2"),
        ("redis_version:8.6.0\r\npenstock_version:0.1.0\r\n", "Penstock 0.1.0"),
        ("", "server"),
    ):
        assert read_facts(text).name == name


def test_what_is_missing_is_unknown() -> None:
    assert read_facts("").line == ("server  -  up -  - ops/s  memory -  clients -  blocked -")


def test_a_replica_that_has_lost_its_primary_says_so() -> None:
    assert read_facts(REPLICA.encode()).line == (
        "Redis 7.0.15  replica, link down  up 2 min  - ops/s  memory 2.0K of 4.0K"
        "  clients -  blocked -"
    )


@given(st.text())
def test_no_text_is_a_fault(text: str) -> None:
    assert read_facts(text).line.isprintable()
