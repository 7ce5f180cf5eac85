"""The fuzzer of the console: it does what it should, and finds what is planted."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from random import Random

import pytest

from fuzz import browsers
from fuzz.browsers import Browser, play
from server.table.command import TABLE
from tests.certificates import Certificates

TABLE.complete()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


def test_a_server_holds(tmp_path, certificates, monkeypatch):
    monkeypatch.setattr(browsers, "ROUND_S", 4.0)
    totals: Counter[str] = Counter()
    play(Random(1), tmp_path / "server", certificates, totals)
    assert totals["requests"]
    assert totals["sessions"]


@pytest.mark.parametrize(
    ("answer", "finding"),
    [
        (b"500 X\r\ncontent-length: 0", "status 500"),
        (b"200 OK\r\ncontent-type: application/json\r\ncontent-length: 1", "no JSON"),
    ],
)
def test_a_bad_answer_is_found(answer, finding):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        browser = Browser(Random(1), listening.getsockname()[1], float("inf"), Counter())
        thread = threading.Thread(target=browser.run)
        thread.start()
        asked, _ = listening.accept()
        with asked:
            asked.recv(65536)
            asked.sendall(b"HTTP/1.1 " + answer + b"\r\n\r\n{")
        thread.join()
    assert finding in browser.finding


def test_a_request_without_an_answer_is_found(monkeypatch):
    monkeypatch.setattr(browsers, "ANSWERED_WITHIN_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        browser = Browser(Random(1), listening.getsockname()[1], float("inf"), Counter())
        browser.run()
    assert browser.finding == "a request is not answered"
