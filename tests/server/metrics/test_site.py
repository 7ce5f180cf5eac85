"""/metrics, /readyz and /healthz of a server with sockets."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

import pytest

from server.http.messages import Request
from server.metrics.exposition import Form
from server.metrics.site import Metrics
from tests.ports import free_port
from tests.server.metrics.scraping import Asked, families
from tests.server.running import ask, on_each_loop, running


async def get(port, path, *headers, method="GET", tls=None):
    """Status, headers and text of an answer; the connection is closed by the server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close", *headers]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head.split()[1])
    fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:] if line)
    rest = await reader.read()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    if fields.get("transfer-encoding") == "chunked":
        rest = dechunked(rest)
    return status, fields, rest.decode()


def dechunked(data):
    text = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        text += data[: int(size, 16)]
        data = data[int(size, 16) + 2 :]
    return text


@on_each_loop
async def test_a_scrape_has_figures_of_the_server():
    port = free_port()
    async with running(metrics_port=port) as instance:
        client = await instance.connect()
        await ask(client, b"XADD s 1-0 f v\r\n", 9)
        status, fields, text = await get(port, "/metrics")
        assert (status, fields["content-type"]) == (200, Form.TEXT.value)
        assert families(text)["redis_stream_length"].samples[0].value == 1
        accept = "Accept: application/openmetrics-text; version=1.0.0"
        status, fields, text = await get(port, "/metrics", accept)
        assert (status, fields["content-type"]) == (200, Form.OPEN_METRICS.value)
        assert families(text, Form.OPEN_METRICS)["redis_up"].samples[0].value == 1


def test_what_makes_the_page_is_imported_in_steps_and_again_if_that_fails(server, monkeypatch):
    site = Metrics(server.state)
    page = sys.modules.get("server.metrics.page")
    monkeypatch.setitem(sys.modules, "server.metrics.stream_metrics", None)
    asked = Asked()
    site.serve(Request("GET", "/metrics", {}, {}, b"", "", "", False), asked)
    with pytest.raises(ImportError):
        asked.finish()
    monkeypatch.undo()
    again = Asked()
    site.serve(Request("GET", "/metrics", {}, {}, b"", "", "", False), again)
    for _ in range(5):
        again.step()
        assert not again.text
    assert "redis_up 1.0\n" in again.finish()
    assert page is None or sys.modules["server.metrics.page"] is page


@on_each_loop
async def test_only_get_and_head_of_that_path_are_answered():
    port = free_port()
    async with running(metrics_port=port) as instance:
        assert instance.port
        status, fields, text = await get(port, "/metrics", method="HEAD")
        assert (status, fields["content-type"], text) == (200, Form.TEXT.value, "")
        status, fields, _ = await get(port, "/metrics", "Content-Length: 0", method="POST")
        assert (status, fields["allow"]) == (405, "get, head")
        assert (await get(port, "/metrics/x"))[0] == 404
        assert (await get(port, "/"))[0] == 404


@on_each_loop
async def test_clients_are_served_while_a_page_is_made():
    """Each PING is answered before the page is whole, of which a peer takes one part at a time."""
    port = free_port()
    async with running(metrics_port=port, metrics_max_series=10**6) as instance:
        client = await instance.connect()
        for number in range(500):
            client[1].write(b"XADD s:%d 1-0 f v\r\n" % number)
        await client[0].readexactly(500 * 9)
        page = asyncio.create_task(get(port, "/metrics"))
        pings = 0
        while not page.done():
            assert await ask(client, b"PING\r\n", 7) == b"+PONG\r\n"
            pings += 1
        _, _, text = await page
        assert text.count("\nredis_stream_length{") == 500
        assert pings > 3


@on_each_loop
async def test_a_peer_that_leaves_in_the_middle_harms_nobody():
    port = free_port()
    async with running(metrics_port=port, metrics_max_series=10**6) as instance:
        client = await instance.connect()
        for number in range(500):
            client[1].write(b"XADD s:%d 1-0 f v\r\n" % number)
        await client[0].readexactly(500 * 9)
        for _ in range(3):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            writer.transport.abort()
        _, _, text = await get(port, "/metrics")
        assert text.count("\nredis_stream_length{") == 500


@on_each_loop
async def test_config_set_moves_the_port():
    port, other = free_port(), free_port()
    async with running(metrics_port=port) as instance:
        client = await instance.connect()
        await ask(client, b"CONFIG SET metrics-port %d\r\n" % other, 5)
        assert (await get(other, "/healthz"))[0] == 200
        with pytest.raises(ConnectionRefusedError):
            await get(port, "/healthz")
        await ask(client, b"CONFIG SET metrics-port 0\r\n", 5)
        with pytest.raises(ConnectionRefusedError):
            await get(other, "/healthz")


@on_each_loop
async def test_it_listens_nowhere_unless_it_is_told_to():
    async with running() as instance:
        listening = instance.server.state.addresses.descriptions.values()
        assert not any("http" in line for line in listening)


@on_each_loop
async def test_while_data_are_loaded_a_page_is_answered_and_the_server_is_not_ready():
    port = free_port()
    async with running(metrics_port=port) as instance:
        assert await get(port, "/readyz") == (200, (await get(port, "/readyz"))[1], "ok\n")
        instance.server.state.restrictions.set_phase(loading=True)
        status, _, text = await get(port, "/readyz")
        assert (status, text) == (503, "loading the data: 0 %\n")
        assert (await get(port, "/healthz"))[0] == 200
        status, _, text = await get(port, "/metrics")
        assert (status, "\nredis_loading_dump_file 1.0\n" in text) == (200, True)
        instance.server.state.restrictions.set_phase()
        assert (await get(port, "/readyz"))[0] == 200


@on_each_loop
async def test_over_tls(certificates):
    port = free_port()
    parameters = certificates.parameters(metrics_tls=True, metrics_port=port)
    async with running(**parameters) as instance:
        assert instance.port
        status, _, text = await get(port, "/metrics", tls=certificates.context())
        assert (status, "\nredis_up 1.0\n" in text) == (200, True)
        assert (await get(port, "/readyz", tls=certificates.context()))[2] == "ok\n"
