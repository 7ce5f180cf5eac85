"""The numbers of the RDB format: opcodes, types of values, encodings of strings, versions.

Redis up to 8.8 and Valkey up to 9 number the types alike as far as they are served here. Above 21
the same number may be another type in Valkey; all those are hashes, which are not served.

Source: rdb.h of Redis 7.0; for later ones https://github.com/redis/librdb
"""

from __future__ import annotations

# ---------------------------------------------------------------------- versions

MAGIC = b"REDIS"  # and four digits
VALKEY_MAGIC = b"VALKEY"  # and three digits, from Valkey 9 on
MAGIC_SIZE = 9
WRITTEN_VERSION = 10  # of Redis 7.0
LATEST_VERSION = 14  # of Redis 8.8
VALKEY_VERSIONS = range(80, 82)  # of Valkey 9.0 and 9.1; those of Valkey 8 are Redis's
FIRST_CHECKED_VERSION = 5  # files have a CRC64 from here on

# ---------------------------------------------------------------------- opcodes

KEY_META = 0xF3  # Redis 8.6: metadata of modules; Valkey 9: a slot that is being imported
SLOT_INFO = 0xF4
FUNCTION = 0xF5
FUNCTION_PRE_GA = 0xF6
MODULE_AUX = 0xF7
IDLE = 0xF8
FREQ = 0xF9
AUX = 0xFA
RESIZE_DB = 0xFB
EXPIRE_MS = 0xFC
EXPIRE_S = 0xFD
SELECT_DB = 0xFE
EOF = 0xFF
FIRST_OPCODE = KEY_META  # what is below is a type

# What stands before each value that a module has left about itself.
MODULE_EOF, MODULE_SINT, MODULE_UINT, MODULE_FLOAT, MODULE_DOUBLE, MODULE_STRING = range(6)

# ---------------------------------------------------------------------- types of values

STRING = 0
LIST = 1
LIST_ZIPLIST = 10
LIST_QUICKLIST = 14
STREAM_1 = 15  # of Redis 5.0
LIST_QUICKLIST_2 = 18
STREAM_2 = 19  # of Redis 7.0
STREAM_3 = 21  # of Redis 7.2
STREAM_4 = 26  # of Redis 8.6
STREAM_5 = 27  # of Redis 8.8

STREAMS = frozenset({STREAM_1, STREAM_2, STREAM_3, STREAM_4, STREAM_5})
LISTS = frozenset({LIST, LIST_ZIPLIST, LIST_QUICKLIST, LIST_QUICKLIST_2})

NOT_SERVED = {
    2: "set",
    3: "sorted set",
    4: "hash",
    5: "sorted set",
    6: "module value (of a release candidate)",
    7: "module value",
    9: "hash (zipmap)",
    11: "set (intset)",
    12: "sorted set (ziplist)",
    13: "hash (ziplist)",
    16: "hash (listpack)",
    17: "sorted set (listpack)",
    20: "set (listpack)",
    22: "hash",
    23: "hash",
    24: "hash with field expiry",
    25: "hash with field expiry",
    28: "array",
    29: "hash (template)",
    30: "hash (template)",
    31: "hash (template)",
    32: "hash (template)",
}


def name_of_type(number: int) -> str:
    """What the type of that number, which is not served, is called."""
    return f"{NOT_SERVED.get(number, 'unknown')}, RDB type {number}"


def is_readable(version: int, valkey: bool) -> bool:
    """Whether values of an RDB of that version can be read here."""
    return version in VALKEY_VERSIONS if valkey else 1 <= version <= LATEST_VERSION
