"""Which server options a job takes from the environment."""

from __future__ import annotations

import pytest

from pyspark_penstock.connect.address import Server
from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.server_options import with_environment


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_SERVERS", "far:7000")
    monkeypatch.setenv("PENSTOCK_CREDENTIALS_FILE", "/run/secrets/redis")
    monkeypatch.delenv("PENSTOCK_PASSWORD", raising=False)
    monkeypatch.delenv("PENSTOCK_USERNAME", raising=False)


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({}, {"bootstrap.servers": "far:7000", "credentialsFile": "/run/secrets/redis"}),
        ({"host": "near"}, {"host": "near", "credentialsFile": "/run/secrets/redis"}),
        ({"PasswordEnv": "PW"}, {"bootstrap.servers": "far:7000", "PasswordEnv": "PW"}),
    ],
    ids=str,
)
def test_options_override_the_environment(given: dict[str, str], options: dict[str, str]) -> None:
    assert with_environment(given) == options


def test_the_user_comes_from_the_environment_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_USERNAME", "ann")
    assert with_environment({"passwordEnv": "PW"})["username"] == "ann"
    assert with_environment({"UserName": "bob"}).get("username") is None


def test_a_password_in_the_environment_is_given_as_its_variable_s_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PENSTOCK_PASSWORD", "secret")
    monkeypatch.delenv("PENSTOCK_CREDENTIALS_FILE")
    found = with_environment({"host": "near"})
    assert found == {"host": "near", "passwordEnv": "PENSTOCK_PASSWORD"}


def test_two_passwords_in_the_environment_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PENSTOCK_PASSWORD", "secret")
    assert with_environment({"host": "near"}) == {"host": "near"}
    with pytest.raises(OptionError, match="contradict each other: set one"):
        Server.from_environment(with_environment({"host": "near"}))
