"""Clients, slow log, latency, memory, replicas, INFO: what the server tells of itself."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from playwright.sync_api import Locator, expect
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.console.browsing import Console
from tests.console.serving import ConsoleServer
from tests.polling import until


@pytest.fixture
def waiting(console: Console) -> Iterator[redis.Redis]:
    """A client, named `worker`, that waits for the list `the tasks`."""
    client = redis.Redis(
        port=console.server.port, client_name="worker", retry=Retry(NoBackoff(), 0)
    )

    def wait() -> None:
        with contextlib.suppress(redis.exceptions.RedisError):
            client.blpop("the tasks", timeout=0)

    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: console.redis.info("clients")["blocked_clients"] == 1, "a client that waits")
    yield client
    console.redis.rpush("the tasks", "the end")
    thread.join()
    client.close()


def worker_row(console: Console) -> Locator:
    return console.page.locator("table.data tbody tr").filter(has_text="worker")


@pytest.mark.usefixtures("waiting")
def test_a_client_that_waits_stands_first_with_its_command(console: Console):
    console.go("clients")
    expect(console.fact("They wait")).to_have_text("1")
    first = console.page.locator("table.data tbody tr").first
    expect(first).to_contain_text("worker")
    expect(first).to_contain_text("waits")
    expect(first).to_contain_text("blpop for the tasks")
    console.redis.rpush("the tasks", "x")
    expect(console.fact("They wait")).to_have_text("0")


@pytest.mark.usefixtures("waiting")
def test_a_client_is_ended_after_what_is_lost_is_named(console: Console):
    console.go("clients")
    worker_row(console).get_by_role("button").click()
    [connection, waits] = console.losses()
    assert connection.endswith("named worker")
    assert waits == "what it waits for, blpop for the tasks"
    console.submit("End the client")
    expect(worker_row(console)).to_have_count(0)
    assert "worker" not in [each["name"] for each in console.redis.client_list()]


def test_clients_are_filtered(console: Console):
    console.go("clients")
    expect(console.page.locator("table.data tbody tr").first).to_be_visible()
    console.page.get_by_label("Filter clients").fill("no such client")
    expect(console.page.get_by_text("No client has this in its line.")).to_be_visible()


def test_the_slow_log_is_shown_and_emptied(console: Console):
    console.redis.config_set("slowlog-log-slower-than", 0)
    console.redis.set("slow:key", "x" * 300)
    console.redis.config_set("slowlog-log-slower-than", 10_000)
    console.go("slowlog")
    expect(console.page.get_by_text("what takes 10.0 ms or longer is noted")).to_be_visible()
    row = console.page.locator("table.data tbody tr").filter(has_text="SET slow:key")
    expect(row).to_have_count(1)
    console.button("Empty it").click()
    assert console.losses()[0].endswith("noted commands")
    console.submit("Empty it")
    expect(console.page.get_by_text("No command was slow.")).to_be_visible()
    assert console.redis.slowlog_len() == 0


def test_latency_has_events_over_time_and_a_histogram_for_each_command(console: Console):
    console.redis.config_resetstat()
    console.redis.config_set("latency-monitor-threshold", 1)
    console.answers("DEBUG", "SLEEP", "0.01")
    console.redis.config_set("latency-monitor-threshold", 0)
    console.redis.xadd("events", {"n": 1})
    console.go("latency")
    chart = console.page.get_by_role("img", name=re.compile(r"^command: 1 times, at most \d+ ms$"))
    expect(chart.locator("circle")).to_have_count(1)
    histogram = console.page.get_by_role(
        "img", name=re.compile(r"^xadd: [\d,]+ calls, half within")
    )
    expect(histogram).to_be_visible()
    console.redis.latency_reset()


def test_memory_says_what_it_is_used_for(console: Console):
    console.redis.set("big", "x" * 3_000_000)
    console.go("memory")
    expect(console.fact("In use")).to_have_text(re.compile(r"MB$"))
    expect(console.page.locator(".meter").first).to_contain_text("Values and keys")
    expect(console.row("dataset.bytes")).to_contain_text("MB")
    keys = console.fact("Keys")
    expect(keys).to_have_text("1")
    console.redis.set("another", "x")
    expect(keys).to_have_text("2")


def test_memory_by_type_has_the_largest_first(console: Console):
    console.redis.set("big", "x" * 3_000_000)
    console.redis.xadd("stream", {"a": "b"})
    console.go("memory")
    types = console.page.locator("section", has_text="By type").locator(".meter")
    expect(types).to_have_count(2)
    expect(types.first).to_contain_text(re.compile(r"string, 1 key.*2\.86 MB"))
    console.redis.rpush("list", *["item"] * 1000)
    expect(types.nth(1)).to_contain_text("list, 1 key")


def test_replicas_are_shown_with_how_far_they_are(console: Console, tmp_path: Path):
    console.go("replicas")
    expect(console.fact("Role")).to_have_text("primary")
    expect(console.page.get_by_text("No replica follows this server.")).to_be_visible()
    replica = ConsoleServer(tmp_path, "--replicaof", f"127.0.0.1 {console.server.port}")
    try:
        row = console.page.locator("table.data tbody tr").filter(has_text=str(replica.port))
        expect(row).to_contain_text("online")
        expect(console.fact("Replicas")).to_have_text("1")
        console.page.goto(f"{replica.url}#/replicas")
        expect(console.fact("Follows")).to_have_text(f"127.0.0.1:{console.server.port}")
        expect(console.fact("Link")).to_have_text("up")
    finally:
        console.allowed.append(re.escape(replica.url))
        console.page.goto(console.server.url)
        replica.close()


def test_info_is_searched(console: Console):
    console.go("server")
    console.page.keyboard.press("/")
    console.page.keyboard.type("uptime_in")
    expect(console.page.locator("table.data tbody tr")).to_have_count(2)
    expect(console.page.locator(".summary")).to_have_text(re.compile(r"^2 of \d+ fields$"))
    expect(console.row("uptime_in_days")).to_contain_text("Time since the start, in whole days")
    console.page.get_by_label("Search INFO").fill("no such field")
    expect(console.page.get_by_text("No field has this")).to_be_visible()
