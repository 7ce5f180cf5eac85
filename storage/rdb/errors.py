"""Why an RDB is refused, besides Corrupt."""

from __future__ import annotations

from storage.errors import Corrupt, StorageError


class BadSignature(StorageError):
    """The file is not an RDB."""


class BadVersion(StorageError):
    """The file is an RDB of a version that is not known here."""

    def __init__(self, header: str, version: int) -> None:
        super().__init__(f"an RDB of version {header}, which is not known here")
        self.version = version


class BadPayload(StorageError):
    """A DUMP payload of a version that is not known here, or with another checksum than said."""


class BadSum(Corrupt):
    """A part of the file is not what was written; the message says which one."""


class UnknownType(StorageError):
    """A key holds a value of a type that is not served here; names both."""

    def __init__(self, key: bytes | None, type_name: str) -> None:
        where = "the value" if key is None else f"the key {key!r}"
        super().__init__(f"{where} is of a type that is not served: {type_name}")
        self.key = key
        self.type_name = type_name
