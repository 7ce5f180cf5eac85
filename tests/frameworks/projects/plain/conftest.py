import pytest


@pytest.fixture(scope="session")
def penstock_client_options():
    return {"decode_responses": True}
