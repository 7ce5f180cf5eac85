"""All parameters of the real servers are known, and Redis reads the output of CONFIG REWRITE."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.config.parameters import WITHOUT_EFFECT, Config
from server.config.redis_conf import rewritten
from tests.compat.comparing import swap
from tests.compat.oracles import REDIS_8, REDIS_8_6, VALKEY_9, Oracles
from tests.compat.processes import ServerProcess, bulk, redis_tool
from tests.compat.resp import Reply

# The parameters that the two servers were started with.
STARTED_WITH = {b"port", b"dir", b"pidfile", b"logfile"}


def parameters(server: ServerProcess) -> dict[bytes, bytes]:
    _, values = server.control.call(b"CONFIG", b"GET", b"*")
    assert isinstance(values, list)
    words = [bulk(value) for value in values]
    return dict(zip(words[::2], words[1::2], strict=True))


def test_every_parameter_of_redis_is_known_with_its_default(
    penstock: ServerProcess, redis: ServerProcess
) -> None:
    theirs, ours = parameters(redis), parameters(penstock)
    differ = {name for name, value in theirs.items() if ours.get(name) != value}
    assert differ <= STARTED_WITH


@pytest.mark.parametrize("oracle", [REDIS_8, REDIS_8_6, VALKEY_9])
def test_every_parameter_of_a_newer_server_is_known_and_its_default_has_no_line_at_the_start(
    oracle: str, penstock: ServerProcess, oracles: Oracles
) -> None:
    theirs, ours = parameters(oracles.start(oracle)), parameters(penstock)
    assert not theirs.keys() - ours.keys()
    config = Config()
    for name, text in theirs.items():
        row = config.parameter(name.decode())
        if row is not None and row in WITHOUT_EFFECT and name not in STARTED_WITH:
            config.set(row, config.parse(row, text.decode()))
    assert config.without_effect == []


# What a test must not set at servers that others use (they could not be reached, or would not keep
# to their folder), and what differs.
LEFT_ALONE = {
    b"loglevel",  # which may be "nothing" since 7.2
    b"port", b"bind", b"tls-port", b"dir", b"requirepass", b"masterauth", b"masteruser",
    b"appendonly", b"maxclients", b"logfile", b"aclfile", b"unixsocket", b"slaveof", b"replicaof",
}  # fmt: skip


def without_lrm(reply: Reply) -> Reply:
    """An error that names all policies, without those of Redis 8.6."""
    return swap(swap(reply, b"volatile-lrm, ", b""), b"allkeys-lrm, ", b"")


@pytest.mark.parametrize("text", [None, b"rubbish", b"-1"])
def test_each_parameter_is_set_to_the_same_values_and_refused_in_the_same_words(
    text: bytes | None, penstock: ServerProcess, redis: ServerProcess
) -> None:
    """None: to what it is."""
    differ = {}
    for name, value in parameters(redis).items():
        if name in LEFT_ALONE:
            continue
        words = (b"CONFIG", b"SET", name, value if text is None else text)
        theirs, ours = redis.control.call(*words), penstock.control.call(*words)
        if theirs != without_lrm(ours):
            differ[name] = (theirs, ours)
        for server in (redis, penstock):
            server.control.call(b"CONFIG", b"SET", name, value)
    assert differ == {}


def test_redis_reads_a_rewritten_configuration_file(tmp_path: Path, redis: ServerProcess) -> None:
    """The file has each parameter of Redis, with its default."""
    names = {name.decode() for name in parameters(redis).keys() - STARTED_WITH}
    path = tmp_path / "redis.conf"
    config = Config()
    path.write_text(rewritten(config, "\n".join(row.name for row in config if row.name in names)))
    reader = ServerProcess([redis_tool("redis-server"), str(path)], tmp_path)
    try:
        found = parameters(reader)
    finally:
        reader.stop()
    assert {name: found[name] for name in found.keys() - STARTED_WITH} == {
        name: value for name, value in parameters(redis).items() if name not in STARTED_WITH
    }
