"""Tests that begin with data. shop.rdb is written by the test that runs this project."""

import pytest


@pytest.mark.parametrize("number", range(5))
def test_all_begin_with_the_data(penstock_client, number):
    assert penstock_client.get("name") == b"shop"
    assert penstock_client.xlen("orders") == 3
    penstock_client.flushall()
    penstock_client.set("name", "another")


@pytest.mark.penstock(data=None)
def test_but_who_wants_none(penstock_client):
    assert penstock_client.dbsize() == 0


@pytest.mark.penstock(data="shop.rdb", clock="2020-01-01T00:00:00+00:00")
def test_and_at_the_time_that_they_want(penstock_client, penstock):
    assert penstock.now().year == 2020
    assert penstock_client.get("name") == b"shop"
