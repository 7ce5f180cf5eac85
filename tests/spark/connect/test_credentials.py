"""Credentials files: their formats, and errors that do not show their content."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyspark_penstock.connect.credentials import LARGEST, Login, read_credentials
from pyspark_penstock.errors import OptionError


def login_of(folder: Path, content: bytes) -> Login:
    (folder / "file").write_bytes(content)
    return read_credentials(str(folder / "file"))


@pytest.mark.parametrize(
    ("content", "login"),
    [
        (b'password = "s"', Login(None, "s")),
        (b'# by hand\nusername = "ann"\npassword = "s"\n', Login("ann", "s")),
        (b"s", Login(None, "s")),
        (b"s\n", Login(None, "s")),
        (b"s\r\n", Login(None, "s")),
        (b" s \n", Login(None, " s ")),
        (b"#s", Login(None, "#s")),
        (b"bGV0IG1lIGlu==\n", Login(None, "bGV0IG1lIGlu==")),
        ("pässword".encode(), Login(None, "pässword")),
    ],
)
def test_a_file_holds_a_password_or_a_login_in_toml(
    tmp_path: Path, content: bytes, login: Login
) -> None:
    assert login_of(tmp_path, content) == login


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "holds neither TOML nor a password in one line"),
        (b"\n", "holds neither"),
        (b"hunter2\nhunter2\n", "holds neither"),
        (b"hunter2\rhunter2", "holds neither"),
        (b'hunter2 = "hunter2"', "must hold 'password' and may hold 'username', and nothing else"),
        (b'password = "hunter2"\nhunter2 = 1', "nothing else"),
        (b'username = "hunter2"', "must hold 'password'"),
        (b"password = 12345", "texts in quotes"),
        (b'password = ""', "none that is empty"),
        (b"hunter2\xff", "is not UTF-8"),
        (b"hunter2" * LARGEST, "is larger than 65,536 bytes"),
    ],
    ids=repr,
)
def test_an_invalid_file_is_named_and_its_content_not_shown(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    with pytest.raises(OptionError) as refused:
        login_of(tmp_path, content)
    assert str(tmp_path / "file") in str(refused.value)
    assert problem in str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert refused.value.__context__ is None


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(OptionError, match=f"credentialsFile='{path}': the file cannot be read"):
            read_credentials(str(path))
