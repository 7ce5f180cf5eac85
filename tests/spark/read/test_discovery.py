"""Discovery: streams are found by listing, by scanning, and by events of new keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.names import key
from pyspark_penstock.read import discovery
from pyspark_penstock.read.discovery import Discovery
from pyspark_penstock.read.source_options import batch_options
from pyspark_penstock.read.subscription import expression_of_glob, glob_matches
from tests.polling import until
from tests.spark.clock import Clock

Make = Callable[..., Discovery]


@pytest.fixture
def discovery_of(at: dict[str, str]) -> Iterator[Make]:
    """Makes discoveries of what matches ``m*``, and closes them."""
    links: list[Links] = []
    made: list[Discovery] = []

    def make(now: Callable[[], float] | None = None, **options: str) -> Discovery:
        given = batch_options(at | {"subscribePattern": "m*"} | options)
        links.append(Links(given.server, Preference.ANY, "looking"))
        made.append(Discovery(links[-1], given, *([now] if now else [])))
        return made[-1]

    yield make
    for each in made:
        each.close()
    for link in links:
        link.close()


def names(found: Discovery) -> list[str]:
    return found.find()[0]


def test_streams_that_match_are_found_at_each_look(client: redis.Redis, discovery_of: Make) -> None:
    client.xadd("m1", {"a": 1})
    client.xadd("other", {"a": 1})
    client.set("m2", 1)
    found = discovery_of()
    assert names(found) == ["m1"]
    client.xadd("m3", {"a": 1})
    assert names(found) == ["m1", "m3"]


def test_a_search_rests_for_the_interval(client: redis.Redis, discovery_of: Make) -> None:
    clock = Clock()
    found = discovery_of(clock.now, discoveryInterval="10s")
    client.xadd("m1", {"a": 1})
    assert names(found) == ["m1"]
    client.xadd("m2", {"a": 1})
    assert names(found) == ["m1"]
    clock.sleep(10)
    assert names(found) == ["m1", "m2"]
    client.xadd("m3", {"a": 1})
    found.again()
    assert names(found) == ["m1", "m2", "m3"]


def test_among_many_streams_a_search_rests(
    client: redis.Redis, discovery_of: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "MANY", 1)
    clock = Clock()
    found = discovery_of(clock.now)
    client.xadd("m1", {"a": 1})
    client.xadd("m2", {"a": 1})
    assert names(found) == ["m1", "m2"]
    client.xadd("m3", {"a": 1})
    assert names(found) == ["m1", "m2"]
    clock.sleep(2)
    assert names(found) == ["m1", "m2", "m3"]


def test_events_of_new_keys_replace_searches(client: redis.Redis, discovery_of: Make) -> None:
    """Penstock lists streams, which is cheaper still."""
    before = client.config_get("notify-keyspace-events")["notify-keyspace-events"]
    assert isinstance(before, str)
    client.config_set("notify-keyspace-events", "En")
    try:
        clock = Clock()
        found = discovery_of(clock.now)
        assert names(found) == []
        client.xadd("m1", {"a": 1})
        client.set("m2", "no stream")
        client.xadd("other", {"a": 1})
        until(lambda: names(found) == ["m1"], "the event of the new stream")
        if not found._lists:
            client.config_resetstat()
            assert names(found) == ["m1"]
            assert "cmdstat_scan" not in client.info("commandstats")
    finally:
        client.config_set("notify-keyspace-events", before)


@pytest.mark.parametrize(
    ("glob", "name", "matches"),
    [
        ("m*", "m1", True), ("m?", "m", False), ("m[a-c]", "mb", True), ("m[^a-c]", "mb", False),
        ("m[c-a]", "mb", True), ("m\\*", "m*", True), ("m\\*", "m1", False), ("m.", "mx", False),
        ("m[.]", "m.", True), ("*\n", "a\n", True), ("m[\\]]", "m]", True),
        ("m?", "m\xfc", False), ("m??", "m\xfc", True), ("m[\xfc]?", "m\xfc", True),
        ("m\xfc", "m\xfc", True), ("m?", "m\udcfc", True),
    ],
)  # fmt: skip
def test_globs_match_as_servers_do(
    client: redis.Redis, glob: str, name: str, matches: bool
) -> None:
    """They compare bytes, so a letter beyond ASCII is two of them or more."""
    assert glob_matches(glob, name) is matches
    client.set(key(name), 1)
    assert client.keys(key(glob)) == ([key(name)] if matches else [])


@given(st.text("ab[]^-\\*?.", max_size=8))
def test_every_glob_has_an_expression(glob: str) -> None:
    expression_of_glob(glob)
