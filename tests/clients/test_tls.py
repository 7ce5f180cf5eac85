"""redis-py and redis-benchmark work by TLS, on each event loop."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator

import pytest
import redis.asyncio
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.certificates import Certificates
from tests.compat.processes import ServerProcess, penstock_command, redis_tool
from tests.ports import free_port


@pytest.fixture(scope="module", params=["uvloop", "asyncio"])
def tls_port(
    request: pytest.FixtureRequest,
    certificates: Certificates,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[int]:
    """The TLS port of a server that asks for certificates."""
    port = free_port()
    words = ["--event-loop", request.param, "--tls-port", str(port)]
    for name, value in certificates.parameters(tls_auth_clients="yes").items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    process = ServerProcess(penstock_command(), tmp_path_factory.mktemp("tls"), *words)
    yield port
    process.stop()


@pytest.fixture
def options(tls_port: int, certificates: Certificates, protocol: int) -> dict[str, object]:
    return {
        "port": tls_port,
        "protocol": protocol,
        "ssl": True,
        "ssl_ca_certs": certificates["ca.crt"],
        "ssl_certfile": certificates["client.crt"],
        "ssl_keyfile": certificates["client.key"],
        "decode_responses": True,
    }


def test_redis_py_works_by_tls(options) -> None:
    with Redis(**options) as client:
        client.flushall()
        with client.pipeline() as pipeline:
            for number in range(1000):
                pipeline.xadd("s", {"n": number, "text": "x" * number})
            pipeline.execute()
        assert client.xlen("s") == 1000
        assert [fields["n"] for _, fields in client.xrange("s")] == [str(n) for n in range(1000)]
        value = "v" * 5_000_000
        client.set("big", value)
        assert client.get("big") == value


def test_redis_py_hears_messages_by_tls(options) -> None:
    with Redis(**options) as client, client.pubsub() as pubsub:
        pubsub.subscribe("news")
        assert pubsub.get_message(timeout=5)["type"] == "subscribe"
        client.publish("news", "hello")
        assert pubsub.get_message(timeout=5)["data"] == "hello"


def test_redis_py_on_asyncio_works_by_tls(options) -> None:
    async def work() -> None:
        async with redis.asyncio.Redis(**options) as client:
            await client.flushall()
            await asyncio.gather(*(client.incr("n") for _ in range(10)))
            assert await client.get("n") == "10"

    asyncio.run(work())


def test_a_client_without_a_certificate_is_turned_away(options) -> None:
    del options["ssl_certfile"], options["ssl_keyfile"]
    once = Retry(NoBackoff(), 0)
    with Redis(**options, retry=once) as client, pytest.raises(redis.ConnectionError):
        client.ping()


@pytest.mark.parametrize("depth", ["1", "16"])
def test_redis_benchmark_works_by_tls(
    tls_port: int, certificates: Certificates, depth: str
) -> None:
    command = [redis_tool("redis-benchmark"), "--tls", "--cacert", certificates["ca.crt"]]
    command += ["--cert", certificates["client.crt"], "--key", certificates["client.key"]]
    command += ["-p", str(tls_port), "-c", "100", "-n", "5000", "-P", depth, "-q", "-t", "set,get"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert b"GET: " in done.stdout
