"""All parameters of redis-server are known, and it reads the output of CONFIG REWRITE."""

from __future__ import annotations

from pathlib import Path

from server.config.parameters import Config
from server.config.redis_conf import rewritten
from tests.compat.processes import ServerProcess, bulk, redis_tool

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
