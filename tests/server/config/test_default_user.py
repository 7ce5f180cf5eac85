"""The user lines in redis.conf, as Redis's CONFIG REWRITE writes them."""

import hashlib

import pytest

from server.config.default_user import is_default_user

SECRET_DIGEST = "#" + hashlib.sha256(b"secret").hexdigest()


@pytest.mark.parametrize(
    ("rules", "password"),
    [
        ("on nopass ~* &* +@all", ""),
        ("on nopass sanitize-payload ~* &* +@all", ""),
        ("on nopass sanitize-payload ~* &* alldbs +@all", ""),
        ("on nopass allkeys allchannels allcommands", ""),
        (f"on sanitize-payload {SECRET_DIGEST} ~* &* +@all", "secret"),
        ("on >secret ~* &* +@all", "secret"),
    ],
)
def test_a_default_user_with_all_permissions_is_accepted(rules, password):
    assert is_default_user(["default", *rules.split()], password)


@pytest.mark.parametrize(
    ("words", "password"),
    [
        ("", ""),
        ("worker on nopass ~* &* +@all", ""),
        ("default on nopass ~* &* +@all -flushall", ""),
        ("default on nopass ~jobs:* &* +@all", ""),
        ("default on nopass ~* +@all", ""),
        ("default off nopass ~* &* +@all", ""),
        ("default on ~* &* +@all", ""),
        (f"default on {SECRET_DIGEST} ~* &* +@all", ""),
        (f"default on {SECRET_DIGEST} ~* &* +@all", "another"),
        ("default on nopass ~* &* +@all", "secret"),
        ("default on >secret >another ~* &* +@all", "secret"),
    ],
)
def test_a_user_with_fewer_permissions_or_another_password_is_not_accepted(words, password):
    assert not is_default_user(words.split(), password)
