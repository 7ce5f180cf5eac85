"""The lines of the server log, form by form, are Valkey's, and Redis's, which has one form."""

from __future__ import annotations

import re

import pytest

from tests.compat.oracles import REDIS_8, REDIS_8_6, VALKEY_9, Oracles
from tests.compat.processes import ServerProcess

LEVELS = (b"DEBUG", b"VERBOSE", b"NOTICE", b"WARNING")
END = b"the last line"
TIMES = re.compile(
    r"\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3}"
    r"|\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}[+-]\d\d:\d\d"
    r"|\d{13}"
)


def logged(server: ServerProcess, texts: list[bytes]) -> list[str]:
    """What *server* logs of *texts*, each at all levels, without process ids; times are named."""
    before = server.log.stat().st_size
    call = server.control.call
    call(b"CONFIG", b"SET", b"loglevel", b"debug")
    for text in texts:
        for level in LEVELS:
            script = b"redis.log(redis.LOG_%s, ARGV[1])" % level
            assert call(b"EVAL", script, b"0", text)[0] != "-"
    call(b"CONFIG", b"SET", b"loglevel", b"verbose")
    call(b"EVAL", b"redis.log(redis.LOG_DEBUG, 'marked, but too low')", b"0")
    call(b"CONFIG", b"SET", b"loglevel", b"notice")
    call(b"EVAL", b"redis.log(redis.LOG_VERBOSE, 'marked, but too low')", b"0")
    call(b"EVAL", b"redis.log(redis.LOG_WARNING, ARGV[1])", b"0", END)
    lines = server.log.read_bytes()[before:].decode().splitlines()
    return [plain(line, server) for line in lines if "marked" in line or END.decode() in line]


def plain(line: str, server: ServerProcess) -> str:
    line = line.replace("<lua> ", "").replace("<script> ", "")
    line = re.sub(rf"\b{server.process.pid}\b", "PID", line, count=1)
    found = TIMES.search(line)
    assert found is not None, line
    return line.replace(found[0], re.sub("[A-Za-z]{3}", "Mon", re.sub(r"\d", "9", found[0])), 1)


@pytest.mark.parametrize("times", [b"legacy", b"iso8601", b"milliseconds"])
@pytest.mark.parametrize("form", [b"legacy", b"logfmt", b"json"])
def test_a_line_has_valkey_s_form(
    form: bytes, times: bytes, penstock: ServerProcess, oracles: Oracles
) -> None:
    valkey = oracles.start(VALKEY_9)
    texts = [b"marked", b'marked "and quoted" = \\ \t', "marked \u00e9\u4e2d".encode()]
    if form != b"legacy":  # there line breaks are escaped here, and make lines in Valkey
        texts += [b"marked\r\nand broken\n"]
    for server in (valkey, penstock):
        for name, value in ((b"log-format", form), (b"log-timestamp-format", times)):
            assert server.control.call(b"CONFIG", b"SET", name, value) == ("+", b"OK")
    try:
        ours = logged(penstock, texts)
        assert ours == logged(valkey, texts)
        assert len(ours) == len(texts) * len(LEVELS) + 1
    finally:
        for server in (valkey, penstock):
            for name in (b"log-format", b"log-timestamp-format"):
                server.control.call(b"CONFIG", b"SET", name, b"legacy")


@pytest.mark.parametrize("oracle", ["Redis 7.0", REDIS_8, REDIS_8_6])
def test_a_line_has_redis_s_form(oracle: str, penstock: ServerProcess, oracles: Oracles) -> None:
    texts = [b"marked", b'marked "and quoted" \\']
    ours = logged(penstock, texts)
    assert ours == logged(oracles.start(oracle), texts)
    assert len(ours) == len(texts) * len(LEVELS) + 1
