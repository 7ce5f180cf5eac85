"""What the caller decides about writing and reading an RDB."""

from __future__ import annotations

from storage.limits import ListpackLimits, SetLimits
from storage.rdb import opcodes

DEFAULT_LIST_FILL = -2  # the default of list-max-listpack-size: nodes of 8 KB
DEFAULT_HASH_LIMITS = ListpackLimits(512)  # the default of hash-max-listpack-entries
DEFAULT_SET_LIMITS = SetLimits()
DEFAULT_SORTED_SET_LIMITS = ListpackLimits(128)  # the default of zset-max-listpack-entries


class WriteOptions:
    """The parameters rdbcompression and rdbchecksum, and the RDB *version* that is written."""

    __slots__ = ("checksum", "compress", "version")

    def __init__(
        self,
        compress: bool = True,
        checksum: bool = True,
        version: int = opcodes.WRITTEN_VERSION,
    ) -> None:
        self.compress = compress
        self.checksum = checksum
        self.version = version


class ReadOptions:
    """How much is verified, and the parameters that the values read follow from now on.

    Without *checksum*, that of a file is not compared and a payload may have none. Without *verify*
    a payload's may be wrong. Everything else is checked in any case. *list_fill* is the parameter
    list-max-listpack-size; *hash_limits*, *set_limits* and *sorted_set_limits* have those of
    hashes, sets and sorted sets.
    """

    __slots__ = (
        "checksum",
        "hash_limits",
        "list_fill",
        "set_limits",
        "sorted_set_limits",
        "verify",
    )

    def __init__(
        self,
        checksum: bool = True,
        list_fill: int = DEFAULT_LIST_FILL,
        verify: bool = True,
        hash_limits: ListpackLimits = DEFAULT_HASH_LIMITS,
        set_limits: SetLimits = DEFAULT_SET_LIMITS,
        sorted_set_limits: ListpackLimits = DEFAULT_SORTED_SET_LIMITS,
    ) -> None:
        self.checksum = checksum
        self.list_fill = list_fill
        self.verify = verify
        self.hash_limits = hash_limits
        self.set_limits = set_limits
        self.sorted_set_limits = sorted_set_limits
