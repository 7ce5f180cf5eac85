"""The usual ways to test it: TestClient, and httpx in the loop of the test."""

import httpx
import pytest
from fastapi.testclient import TestClient
from service import app, connect, redis_url


@pytest.fixture
def service(penstock_url):
    app.dependency_overrides[redis_url] = lambda: penstock_url
    with TestClient(app) as client:
        yield client
    app.dependency_overrides.clear()


@pytest.mark.parametrize("number", range(3))
def test_visits_are_counted(service, number):
    assert service.get("/visits/home").json() == 1
    assert service.get("/visits/home").json() == 2


def test_what_the_service_has_written(service, penstock_client):
    service.get("/visits/home")
    assert penstock_client.get("visits:home") == b"1"


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.anyio
async def test_in_one_loop_with_the_service(penstock_async_client):
    app.dependency_overrides[connect] = lambda: penstock_async_client
    app.dependency_overrides[redis_url] = lambda: ""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://t") as client:
        assert (await client.get("/visits/home")).json() == 1
    assert await penstock_async_client.get("visits:home") == b"1"
    app.dependency_overrides.clear()


def test_one_client_in_the_loop_of_the_service_and_in_ours(penstock_async_client):
    app.dependency_overrides[connect] = lambda: penstock_async_client
    app.dependency_overrides[redis_url] = lambda: ""
    for _ in range(2):
        with TestClient(app) as client:  # each has a loop of its own
            client.get("/visits/home")
            assert client.get("/visits/home").status_code == 200
    app.dependency_overrides.clear()
