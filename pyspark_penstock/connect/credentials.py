"""Credentials files: user and password, or the password alone.

    username = "ann"          TOML; the user may be missing
    password = "s3cret"

    s3cret                    the password in one line and nothing else, as containers mount secrets

A file that is valid TOML is read as TOML, and may hold these two keys only. Errors name the file
and never show its content.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark_penstock.errors import OptionError

LARGEST = 1 << 16  # bytes; a larger file cannot be a credentials file
KEYS = frozenset({"username", "password"})


@dataclass(frozen=True)
class Login:
    """User and password. The password is not part of the repr."""

    username: str | None = None
    password: str = field(default="", repr=False)

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments of AUTH."""
        return (self.username, self.password) if self.username else (self.password,)


def read_credentials(path: str) -> Login:
    """Read a credentials file. Raises OptionError."""
    text = text_of(path)
    table = table_of(text)
    if table:
        return login_of(path, table)
    password = text.removesuffix("\n").removesuffix("\r")
    if not password or "\n" in password or "\r" in password:
        raise refusal(path, "holds neither TOML nor a password in one line")
    return Login(password=password)


def text_of(path: str) -> str:
    """The content of the file as text."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as problem:
        raise refusal(path, f"cannot be read: {problem.strerror}") from None
    if len(data) > LARGEST:
        raise refusal(path, f"is larger than {LARGEST:,} bytes")
    text = data.decode("utf-8", "replace")
    if text.encode() != data:
        raise refusal(path, "is not UTF-8")
    return text


def table_of(text: str) -> dict[str, Any]:
    """The text parsed as TOML; an empty table if it is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def login_of(path: str, table: dict[str, Any]) -> Login:
    """The login in a TOML table. Raises OptionError."""
    if "password" not in table or not table.keys() <= KEYS:
        raise refusal(path, "must hold 'password' and may hold 'username', and nothing else")
    if not all(isinstance(value, str) and value for value in table.values()):
        raise refusal(path, "must hold texts in quotes, and none that is empty")
    return Login(table.get("username"), table["password"])


def refusal(path: str, problem: str) -> OptionError:
    """The error for a file that cannot be used."""
    return OptionError(f"credentialsFile={path!r}: the file {problem}")
