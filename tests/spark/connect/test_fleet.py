"""A fleet: servers by name, from options."""

from __future__ import annotations

import re

import pytest

from pyspark_penstock.connect.fleet import Fleet
from pyspark_penstock.errors import OptionError
from pyspark_penstock.options import FLEET, SERVER, Options


def fleet(**given: str) -> Fleet:
    return Fleet.from_options(Options(given, "a test", SERVER, FLEET, ["failOnUnreachable"]))


def test_each_server_is_named_by_its_address_and_one_named_twice_is_one() -> None:
    found = fleet(servers="B:7, a,b:7 ,a:6379,[::1]:8", retryTimeout="3s")
    assert found.names == ("b:7", "a:6379", "[::1]:8")
    assert found.server("a:6379").addresses == (("a", 6379),)
    assert found.server("[::1]:8").retry_s == 3
    assert not found.is_single
    assert found.fail_on_unreachable


def test_without_servers_there_is_one_without_a_name() -> None:
    found = fleet(host="a", port="7")
    assert found.is_single
    assert found.server("").addresses == (("a", 7),)


def test_sentinels_know_the_server() -> None:
    server = fleet(sentinels="a,b:7", masterName="m", readFrom="Replica").server("")
    assert server.sentinels == (("a", 26379), ("b", 7))
    assert (server.master_name, server.addresses, server.read_from) == ("m", (), "replica")
    assert server.places == "'m' of Sentinel (a:26379, b:7)"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"servers": "a", "host": "b"}, "'servers' and 'host' contradict"),
        ({"servers": "a", "sentinels": "b"}, "'servers' and 'sentinels' contradict"),
        ({"servers": "a,,b"}, "servers='': must be host:port"),
        ({"servers": "redis://u:secret@a"}, "'servers' is a URL: give host:port"),
        ({"servers": "a:70000"}, "a port from 1 to 65535"),
        ({"sentinels": "a"}, "masterName='': must be the name by which"),
        ({"masterName": "m"}, "'masterName' is a name that Sentinels know"),
        ({"sentinels": "a", "masterName": "m", "port": "1"}, "'sentinels' and 'port' contradict"),
        ({"failOnUnreachable": "false"}, "'failOnUnreachable' is for several servers"),
        ({"host": "a", "readFrom": "any"}, "readFrom='any': must be primary or replica"),
    ],
)
def test_what_contradicts_itself_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=re.escape(message)):
        fleet(**given)


def test_a_name_that_is_not_in_the_fleet() -> None:
    with pytest.raises(OptionError, match="no server 'c:6379' in servers='a:6379,b:6379'"):
        fleet(servers="a,b").server("c:6379")
