"""pytest-redis, in a project as its users have one: its fixtures start a redis-server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pytest_redis import factories

secured = factories.redis_proc(password="secret", save="60 1", datadir=Path(os.environ["DATA"]))
secured_client = factories.redisdb("secured")


def test_the_server_is_the_one_on_the_path(redis_proc):
    assert redis_proc.executable == os.environ["EXPECTED"]
    assert str(redis_proc.version) == os.environ["VERSION"]
    assert redis_proc.running()


def test_a_client_finds_an_empty_database(redisdb):
    assert redisdb.keys() == []
    assert redisdb.rpush("queue", "a", "b") == 2


def test_the_next_test_does_so_too(redisdb):
    assert redisdb.keys() == []
    assert redisdb.info("server")["redis_mode"] == "standalone"


def test_the_options_that_the_executor_gives_are_taken(secured, secured_client):
    assert secured_client.config_get("save") == {"save": "60 1"}
    assert secured_client.config_get("pidfile")["pidfile"].endswith(f".{secured.port}.pid")
    log = Path(os.environ["DATA"]) / f"redis-server.{secured.port}.log"
    assert "Ready to accept connections" in log.read_text()


@pytest.mark.parametrize("number", range(3))
def test_each_case_starts_empty(redisdb, number):
    assert redisdb.incr("seen") == 1
