"""The server of a job: what the environment says becomes options, which go where tasks run."""

from __future__ import annotations

import pytest

from pyspark_penstock.jobs.server_options import with_environment


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_SERVERS", "far:7000")
    monkeypatch.setenv("PENSTOCK_CREDENTIALS_FILE", "/run/secrets/redis")
    monkeypatch.delenv("PENSTOCK_PASSWORD", raising=False)


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({}, {"bootstrap.servers": "far:7000", "credentialsFile": "/run/secrets/redis"}),
        ({"host": "near"}, {"host": "near", "credentialsFile": "/run/secrets/redis"}),
        ({"PasswordEnv": "PW"}, {"bootstrap.servers": "far:7000", "PasswordEnv": "PW"}),
    ],
    ids=str,
)
def test_options_stand_above_the_environment(
    given: dict[str, str], options: dict[str, str]
) -> None:
    assert with_environment(given) == options


def test_a_password_in_the_environment_leaves_no_room_for_a_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PENSTOCK_PASSWORD", "secret")
    assert with_environment({"host": "near"}) == {"host": "near"}
