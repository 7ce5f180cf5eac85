"""HTTP on the server's transports: requests, answers, pieces, limits."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from server import app
from server.http.connection import MOST_EVENTS, MOST_PIPELINED
from server.http.messages import MOST_BODY, SMALL_BODY, Body, Response, Site, Sites
from server.http.peers import MOST, PATIENCE_MS, STALLED_MS
from tests.ports import free_port
from tests.server.running import on_each_loop, running


class Pieces(Body):
    """Gives *pieces* one by one; b"" waits to be woken."""

    def __init__(self, exchange, pieces):
        self.exchange = exchange
        self.pieces = list(pieces)
        self.is_gone = False

    def more(self):
        return self.pieces.pop(0) if self.pieces else None

    def gone(self):
        assert not self.is_gone
        self.is_gone = True


class Toy(Site):
    """Echoes, fails, answers later, or sends pieces, as the path says."""

    def __init__(self):
        self.asked = []
        self.waiting = []
        self.bodies = []

    def most_body(self, request):
        return MOST_BODY if "cookie" in request.headers else super().most_body(request)

    def serve(self, request, exchange):
        self.asked.append(request)
        if request.path == "/fails":
            raise ZeroDivisionError
        if request.path == "/later":
            self.waiting.append(exchange)
        elif request.path == "/pieces":
            body = Pieces(exchange, [b"one ", b"two ", b"three"])
            self.bodies.append(body)
            exchange.begin(body, "text/plain")
        elif request.path == "/flood":
            body = Pieces(exchange, [b"x" * 65536] * 400)
            self.bodies.append(body)
            exchange.begin(body, "text/plain")
        elif request.path == "/waits":
            body = Pieces(exchange, [b"a", b"", b"b"])
            self.bodies.append(body)
            exchange.begin(body, "text/plain")
        elif request.path == "/long":
            exchange.respond(Response(200, b"x" * 100_000))
        elif request.path == "/breaks":
            exchange.respond(Response(200, b"", headers=[("x-name", "a\r\nset-cookie: b")]))
        else:
            exchange.respond(Response(200, request.body or request.path.encode()))


class ToySites(Sites):
    def __init__(self):
        self.toy = Toy()

    def find(self, path):
        return None if path == "/nowhere" else self.toy


class Face:
    def __init__(self, instance, port, sites):
        self.instance = instance
        self.port = port
        self.toy = sites.toy
        self.peers = instance.server._listeners._kinds[-1]._peers

    async def ask(self, data, until_end=False):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        try:
            return await (reader.read() if until_end else read_answer(reader))
        finally:
            writer.close()


async def read_answer(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
    if "content-length" in headers:
        body = await reader.readexactly(int(headers["content-length"]))
    else:
        body = await read_chunks(reader)
    return int(lines[0].split()[1]), headers, body


async def until_still(read):
    """Until what *read* tells changes no more."""
    last = None
    while last != (last := read()):
        for _ in range(10):
            await asyncio.sleep(0.001)


async def read_chunks(reader):
    chunks = []
    while size := int(await reader.readline(), 16):
        chunks.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readexactly(2)
    return b"".join(chunks)


@asynccontextmanager
async def face(**parameters):
    """A server whose HTTP face serves a toy."""
    port = free_port()
    sites = ToySites()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "ServerSites", lambda _dispatcher, _clients: sites)
        async with running(metrics_port=port, metrics_bind=["127.0.0.1"], **parameters) as instance:
            yield Face(instance, port, sites)


GET = b"GET %s HTTP/1.1\r\nhost: localhost\r\n\r\n"


@on_each_loop
async def test_a_request_is_answered():
    async with face() as server:
        status, headers, body = await server.ask(GET % b"/hello?a=1&b=%20")
        assert (status, body) == (200, b"/hello")
        assert headers["content-type"] == "text/plain; charset=utf-8"
        request = server.toy.asked[0]
        assert request.query == {"a": "1", "b": " "}
        assert request.headers["host"] == "localhost"
        assert request.peer.startswith("127.0.0.1:")


@on_each_loop
async def test_a_request_may_come_byte_by_byte():
    request = b"POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello"
    async with face() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for place in range(len(request)):
            writer.write(request[place : place + 1])
            await asyncio.sleep(0)
        assert (await read_answer(reader))[2] == b"hello"
        writer.close()


@on_each_loop
async def test_requests_that_are_pipelined_are_answered_in_order():
    async with face() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(GET % b"/a" + GET % b"/later" + GET % b"/b")
        assert (await read_answer(reader))[2] == b"/a"
        await server.instance.until(lambda: server.toy.waiting)
        assert len(server.toy.asked) == 2
        turn = server.instance.server.dispatcher.turn
        turn.run(lambda: server.toy.waiting[0].respond(Response(200, b"later")))
        assert (await read_answer(reader))[2] == b"later"
        assert (await read_answer(reader))[2] == b"/b"
        writer.close()


@on_each_loop
async def test_a_body_is_sent_piece_by_piece():
    async with face() as server:
        assert (await server.ask(GET % b"/pieces"))[2] == b"one two three"
        assert server.toy.bodies[0].is_gone


@on_each_loop
async def test_a_body_that_has_nothing_waits_to_be_woken():
    async with face() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(GET % b"/waits")
        await reader.readuntil(b"a\r\n")
        body = server.toy.bodies[0]
        await server.instance.until(lambda: body.pieces == [b"b"])
        server.instance.server.dispatcher.turn.run(body.exchange.wake)
        assert await reader.readexactly(6) == b"1\r\nb\r\n"
        writer.close()


@on_each_loop
async def test_a_peer_that_takes_nothing_holds_back_the_body():
    async with face() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(GET % b"/flood")
        await server.instance.until(lambda: server.toy.bodies)
        body = server.toy.bodies[0]
        last = -1
        while last != len(body.pieces):  # until it is asked no more
            last = len(body.pieces)
            for _ in range(10):
                await asyncio.sleep(0.001)
        assert body.pieces
        await reader.readuntil(b"\r\n\r\n")
        assert len(await read_chunks(reader)) == 400 * 65536
        writer.close()


@on_each_loop
async def test_the_body_of_a_peer_that_leaves_is_told():
    async with face() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(GET % b"/waits")
        await reader.readuntil(b"a\r\n")
        writer.close()
        await server.instance.until(lambda: server.toy.bodies[0].is_gone)
        assert len(server.peers) == 0


@on_each_loop
async def test_the_head_alone_is_sent_to_who_asks_for_it():
    async with face() as server:
        answer = await server.ask(
            b"HEAD /abc HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", until_end=True
        )
        assert b"content-length: 4" in answer
        assert answer.endswith(b"\r\n\r\n")
        answer = await server.ask(
            b"HEAD /pieces HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", until_end=True
        )
        assert answer.endswith(b"\r\n\r\n")


@on_each_loop
async def test_http_1_0_gets_a_body_that_ends_with_the_connection():
    async with face() as server:
        answer = await server.ask(b"GET /pieces HTTP/1.0\r\n\r\n", until_end=True)
        assert answer.endswith(b"\r\n\r\none two three")


@on_each_loop
async def test_an_unknown_path_is_not_found():
    async with face() as server:
        assert (await server.ask(GET % b"/nowhere"))[0] == 404


@on_each_loop
async def test_a_site_that_fails_answers_500_and_the_server_goes_on():
    async with face() as server:
        assert (await server.ask(GET % b"/fails"))[0] == 500
        assert (await server.ask(GET % b"/x"))[0] == 200


@on_each_loop
async def test_a_header_with_a_line_break_never_leaves():
    async with face() as server:
        status, headers, _ = await server.ask(GET % b"/breaks")
        assert status == 500
        assert "set-cookie" not in headers


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),  # no host
        (b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"x" * 20000, 431),
        (b"GET http://[ HTTP/1.1\r\nhost: a\r\n\r\n", 400),
        (b"GET /?" + b"a=1&" * 100 + b" HTTP/1.1\r\nhost: a\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n", 400),
        (b"*1\r\n$4\r\nPING\r\n\r\n", 400),
    ],
    ids=["nonsense", "no host", "long head", "bad target", "many words", "bad length", "RESP"],
)
@on_each_loop
async def test_what_is_no_request_is_refused(request_bytes, status):
    async with face() as server:
        assert (await server.ask(request_bytes))[0] == status
        assert (await server.ask(GET % b"/x"))[0] == 200


@pytest.mark.parametrize(
    ("path", "more", "most"),
    [
        (b"/", b"cookie: a\r\n", MOST_BODY),
        (b"/", b"", SMALL_BODY),
        (b"/nowhere", b"", SMALL_BODY),
        (b"http://[", b"", SMALL_BODY),
    ],
    ids=["known", "unknown", "nowhere", "bad target"],
)
@on_each_loop
async def test_a_body_that_is_too_large_is_refused(path, more, most):
    """How large it may be is for the site to say: hundreds who are not known may send one."""
    async with face() as server:
        head = b"POST %s HTTP/1.1\r\nhost: a\r\n%bcontent-length: %d\r\n\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(head % (path, more, most + 1))
        for _ in range(most // 65536):
            writer.write(b"x" * 65536)
        writer.write(b"x")
        assert (await read_answer(reader))[0] == 413
        writer.transport.abort()


@on_each_loop
async def test_one_who_waits_for_100_continue_gets_it():
    async with face() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(
            b"POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n"
        )
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
        writer.write(b"abc")
        assert (await read_answer(reader))[2] == b"abc"
        writer.close()


@on_each_loop
async def test_one_who_sends_on_and_on_while_his_request_waits_is_disconnected():
    async with face() as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(GET % b"/later")
        await server.instance.until(lambda: server.toy.waiting)
        writer.write(b"x" * (MOST_PIPELINED + 70000))
        await server.instance.until(lambda: len(server.peers) == 0)
        turn = server.instance.server.dispatcher.turn
        turn.run(lambda: server.toy.waiting[0].respond(Response(200, b"late")))  # says nothing
        writer.close()


@on_each_loop
async def test_requests_of_a_peer_that_takes_no_answers_wait():
    """Their answers would take memory without end."""
    async with face() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1000)
        writer.write(GET % b"/long" * 300)
        await until_still(lambda: len(server.toy.asked))
        assert len(server.toy.asked) < 200
        for _ in range(300):
            assert (await read_answer(reader))[0] == 200
        writer.close()


@on_each_loop
async def test_requests_that_come_together_are_answered_one_a_turn():
    """Else those of one peer would hold all others up."""
    async with face() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        await server.instance.until(lambda: len(server.peers) == 1)
        (peer,) = server.peers._all
        peer.data_received(GET % b"/a" * 100)
        assert len(server.toy.asked) == 1
        for _ in range(100):
            assert (await read_answer(reader))[0] == 200
        writer.close()


@on_each_loop
async def test_a_body_in_tiny_chunks_is_taken_a_part_a_turn():
    """Thousands of them come at once, and each costs as much as a command."""
    async with face() as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        await server.instance.until(lambda: len(server.peers) == 1)
        (peer,) = server.peers._all
        head = b"POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
        peer.data_received(head + b"1\r\na\r\n" * 5000)
        assert len(peer._have) <= MOST_EVENTS
        writer.write(b"0\r\n\r\n")
        await server.instance.until(lambda: server.toy.asked)
        assert server.toy.asked[0].body == b"a" * 5000
        writer.close()


@on_each_loop
async def test_one_who_keeps_the_server_waiting_is_disconnected():
    async with face() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET / HTTP/1.1\r\n")
        await server.instance.until(lambda: len(server.peers) == 1)
        server.peers.tick(server.peers.now_ms + PATIENCE_MS + 1)
        await server.instance.until(lambda: len(server.peers) == 0)
        with suppress(ConnectionResetError):  # or the end: what it has sent was not read
            assert await reader.read() == b""
        writer.close()


@on_each_loop
async def test_one_who_sends_a_request_byte_by_byte_has_no_more_time_for_it():
    """With one every few seconds he would be one of the few hundred for as long as he likes."""
    async with face() as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        await server.instance.until(lambda: len(server.peers) == 1)
        (peer,) = server.peers._all
        for letter in b"GET":
            server.peers.tick(server.peers.now_ms + PATIENCE_MS // 4)
            peer.data_received(bytes([letter]))
        assert len(server.peers) == 1
        server.peers.tick(server.peers.now_ms + PATIENCE_MS // 2)
        assert len(server.peers) == 0
        writer.close()


@on_each_loop
async def test_a_long_body_has_time_as_long_as_it_comes():
    async with face() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        await server.instance.until(lambda: len(server.peers) == 1)
        (peer,) = server.peers._all
        peer.data_received(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 60000\r\n\r\n")
        for _ in range(3):
            server.peers.tick(server.peers.now_ms + PATIENCE_MS // 2)
            peer.data_received(b"x" * 20_000)
        assert (await read_answer(reader))[2] == b"x" * 60_000
        writer.close()


@on_each_loop
async def test_one_more_than_there_may_be_is_turned_away():
    async with face() as server:
        opened = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(MOST + 1)]
        answers = [reader.read(12) for reader, _ in opened]
        done, waiting = await asyncio.wait(
            [asyncio.ensure_future(answer) for answer in answers],
            return_when=asyncio.FIRST_COMPLETED,
        )
        assert [task.result() for task in done] == [b"HTTP/1.1 503"]
        for task in waiting:
            task.cancel()
        for _, writer in opened:
            writer.transport.abort()


@on_each_loop
async def test_a_peer_that_takes_no_more_is_disconnected_after_a_while():
    """It would be one of the few hundred that there may be, for as long as it likes."""
    async with face() as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1000)
        writer.write(GET % b"/flood")
        await server.instance.until(lambda: server.toy.bodies)
        body = server.toy.bodies[0]
        await server.instance.until(lambda: body.exchange.is_backed_up)
        server.peers.tick(body.exchange.heard_ms + STALLED_MS)
        assert not body.is_gone
        server.peers.tick(body.exchange.heard_ms + STALLED_MS + 1)
        assert body.is_gone
        assert len(server.peers) == 0
        writer.close()
