"""What a project does with the fixtures; no test may see what another one leaves."""

import datetime
import os
import tempfile
from pathlib import Path

import pytest
import redis

import server


@pytest.mark.parametrize("number", range(20))
def test_each_test_finds_an_empty_server(penstock_client, number):
    assert penstock_client.dbsize() == 0
    assert penstock_client.config_get("hz") == {"hz": "10"}
    assert penstock_client.function_list() == []
    penstock_client.set(f"key:{number}", "value")
    penstock_client.config_set("hz", 100 + number)
    penstock_client.function_load(
        "#!lua name=lib\nredis.register_function('f', function() return 1 end)"
    )


def test_options_of_the_configuration_file(penstock_client):
    assert penstock_client.config_get("maxmemory") == {"maxmemory": str(100 * 1024**2)}


def test_url(penstock_url, penstock):
    assert penstock_url == penstock.url
    with redis.Redis.from_url(penstock_url) as client:
        assert client.ping()


def test_modules_of_the_project_are_its_own(penstock):
    assert server.WHO == "the project's own"


@pytest.mark.penstock(options=["maxmemory 50mb"], socket="tcp")
class TestServerOfItsOwn:
    def test_its_options(self, penstock_client):
        assert penstock_client.config_get("maxmemory") == {"maxmemory": str(50 * 1024**2)}

    def test_its_socket(self, penstock_url):
        assert penstock_url.startswith("redis://127.0.0.1:")


def test_time_travel(penstock, penstock_client):
    penstock_client.set("session", "x", ex=datetime.timedelta(hours=1))
    penstock.travel(hours=1)
    assert penstock_client.get("session") is None


def test_snapshot(penstock, penstock_client):
    penstock_client.xgroup_create("orders", "shipping", mkstream=True)
    entry = penstock_client.xadd("orders", {"item": "kettle"})
    penstock_client.xreadgroup("shipping", "ann", {"orders": ">"})
    snapshot = penstock.snapshot()
    for _ in range(2):
        assert penstock_client.xack("orders", "shipping", entry) == 1
        penstock_client.delete("orders")
        penstock.restore(snapshot)
        assert penstock_client.xpending("orders", "shipping")["pending"] == 1


def test_shutdown(penstock, penstock_client):
    penstock_client.shutdown(nosave=True)


def test_a_leaked_transaction(penstock):
    penstock.client().connection_pool.get_connection().send_command("MULTI")


def test_the_server_is_not_in_the_folder_of_the_project(penstock):
    assert not penstock.path.is_relative_to(Path.cwd())
    assert not [name for name in os.listdir() if name.endswith((".rdb", ".aof"))]


def test_the_session_has_one_server(penstock, penstock_server):
    assert penstock is penstock_server
    assert tempfile.gettempdir()
