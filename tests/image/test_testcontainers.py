"""testcontainers, which starts redis's image for others' tests, starts this one in its place."""

from __future__ import annotations

import asyncio

import pytest

from tests.image.engine import Engine

pytestmark = pytest.mark.filterwarnings("default")  # of testcontainers and of what it imports


@pytest.fixture
def testcontainers(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks this engine, without its own container that removes others: it isn't here."""
    docker_host = engine.environment.get("DOCKER_HOST")
    if docker_host:
        monkeypatch.setenv("DOCKER_HOST", docker_host)
    from testcontainers.core.config import testcontainers_config  # noqa: PLC0415

    monkeypatch.setattr(testcontainers_config, "ryuk_disabled", True)


@pytest.mark.usefixtures("testcontainers")
@pytest.mark.parametrize("password", [None, "secret"])
def test_its_container_serves_a_client(image: str, password: str | None) -> None:
    from testcontainers.redis import RedisContainer  # noqa: PLC0415

    with RedisContainer(image, password=password) as container:
        client = container.get_client(decode_responses=True)
        client.xadd("orders", {"item": "kettle"})
        assert client.xlen("orders") == 1
        client.close()


@pytest.mark.usefixtures("testcontainers")
def test_its_asynchronous_container_serves_a_client(image: str) -> None:
    from testcontainers.redis import AsyncRedisContainer  # noqa: PLC0415

    async def talk(container: AsyncRedisContainer) -> str:
        client = await container.get_async_client(decode_responses=True)
        try:
            await client.set("key", "value")
            return str(await client.get("key"))
        finally:
            await client.aclose()

    with AsyncRedisContainer(image) as container:
        assert asyncio.run(talk(container)) == "value"
