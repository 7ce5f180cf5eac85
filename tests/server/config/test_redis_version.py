"""redis-version: what clients are told that the server is, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from server.config.parameters import Config
from server.process import build


def told(server: Any) -> tuple[bytes, bytes]:
    """The versions that HELLO and INFO tell."""
    reply = server.send("HELLO", 2)
    facts = dict(zip(reply[::2], reply[1::2], strict=True))
    [line] = [line for line in server.send("INFO", "server").split() if b"redis_version" in line]
    return facts[b"version"], line.partition(b":")[2]


def test_the_default_is_the_redis_whose_behaviour_this_is() -> None:
    assert Config().redis_version == build.REDIS_VERSION


@pytest.mark.parametrize(
    ("text", "shown"), [("7.4.1", b"7.4.1"), ("8.8", b"8.8.0"), ("7.2.4", b"7.2.4")]
)
def test_hello_and_info_tell_it(server: Any, text: str, shown: bytes) -> None:
    assert told(server) == (b"8.6.3", b"8.6.3")
    assert server.send("CONFIG", "SET", "redis-version", text) == b"OK"
    assert told(server) == (shown, shown)


@pytest.mark.parametrize("text", ["", "8", "8.6.3.1", "v8.6", "8.6-rc1", "latest", "888.1"])
def test_what_is_no_version_is_refused(server: Any, text: str) -> None:
    reply = server.send("CONFIG", "SET", "redis-version", text)
    assert "argument must be a version, such as 8.6 or 8.6.3" in reply
