"""What the caller decides about writing and reading an RDB."""

from __future__ import annotations

from dataclasses import dataclass

from storage.lists.quicklist import DEFAULT_FILL


@dataclass(frozen=True)
class WriteOptions:
    """The configuration's rdbcompression and rdbchecksum."""

    compress: bool = True
    checksum: bool = True


@dataclass(frozen=True)
class ReadOptions:
    """*list_fill* is the configuration's list-max-listpack-size, for the lists that are read.

    Without *checksum* a file's is not looked at, and a payload may have none; without *verify* a
    payload's may be wrong. Everything else is checked all the same.
    """

    checksum: bool = True
    list_fill: int = DEFAULT_FILL
    verify: bool = True
