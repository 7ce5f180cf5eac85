"""What COMMAND tells of commands beside their declarations.

How they use their keys, tips for clients, deprecation, history: nothing here changes what a command
does. The tables are by name; a name without a command is a mistake, and a
test says so.
"""

from __future__ import annotations

# ---------------------------------------------------------------------- what keys are used for

# First the access: RO reads, RW changes, OW overwrites, RM removes. Then what is done with the data
# in the value: access (it is returned or copied), insert, update, delete. Two entries are two key
# specs: the first for the first key, the second for the second.
_LOOK = ("RO",)
_READ = ("RO access",)
_UPDATE = ("RW update",)
_INSERT = ("RW insert",)
_DELETE = ("RW delete",)
_TAKE = ("RW access delete",)
_CHANGE = ("RW access update",)
_SET = ("OW update",)
_MOVE = ("RW access delete", "RW insert")

KEY_USES: dict[str, tuple[str, ...]] = {
    # generic
    **dict.fromkeys(("exists", "touch", "type", "watch"), _LOOK),
    **dict.fromkeys(("ttl", "pttl", "expiretime", "pexpiretime"), _READ),
    **dict.fromkeys(("expire", "pexpire", "expireat", "pexpireat", "persist"), _UPDATE),
    **dict.fromkeys(("del", "unlink"), ("RM delete",)),
    "copy": ("RO access", "OW update"),
    "rename": ("RW access delete", "OW update"),
    "renamenx": ("RW access delete", "OW insert"),
    "move": _CHANGE,
    "dump": _READ,
    **dict.fromkeys(("restore", "restore-asking"), _SET),
    "migrate": ("RW access delete", "RW access delete incomplete"),
    **dict.fromkeys(
        ("object|encoding", "object|freq", "object|idletime", "object|refcount"), _LOOK
    ),
    # strings
    **dict.fromkeys(("get", "mget", "getrange", "substr"), _READ),
    "strlen": _LOOK,
    "set": ("RW access update variable_flags",),
    **dict.fromkeys(("mset", "setex", "psetex"), _SET),
    **dict.fromkeys(("setnx", "msetnx"), ("OW insert",)),
    **dict.fromkeys(
        ("getset", "getex", "incr", "incrby", "incrbyfloat", "decr", "decrby"), _CHANGE
    ),
    "getdel": _TAKE,
    "append": _INSERT,
    "setrange": _UPDATE,
    # lists
    **dict.fromkeys(("lindex", "lrange", "lpos"), _READ),
    "llen": _LOOK,
    **dict.fromkeys(("lpush", "rpush", "lpushx", "rpushx", "linsert"), _INSERT),
    **dict.fromkeys(("lpop", "rpop", "blpop", "brpop", "lmpop", "blmpop"), _TAKE),
    **dict.fromkeys(("lrem", "ltrim"), _DELETE),
    "lset": _UPDATE,
    **dict.fromkeys(("lmove", "blmove", "rpoplpush", "brpoplpush"), _MOVE),
    # streams
    **dict.fromkeys(("xrange", "xrevrange", "xread", "xreadgroup", "xpending"), _READ),
    **dict.fromkeys(("xinfo|stream", "xinfo|groups", "xinfo|consumers"), _READ),
    "xlen": _LOOK,
    **dict.fromkeys(("xadd", "xack", "xclaim", "xsetid", "xgroup|setid"), _UPDATE),
    **dict.fromkeys(
        ("xdel", "xtrim", "xautoclaim", "xgroup|destroy", "xgroup|delconsumer"), _DELETE
    ),
    **dict.fromkeys(("xgroup|create", "xgroup|createconsumer"), _INSERT),
}

# ---------------------------------------------------------------------- tips for clients

_VARIES = ("nondeterministic_output",)
_ORDER_VARIES = ("nondeterministic_output_order",)
_SUM_OF_SHARDS = ("request_policy:multi_shard", "response_policy:agg_sum")
_ALL_SHARDS = ("request_policy:all_shards", "response_policy:all_succeeded")
_ALL_NODES = ("request_policy:all_nodes", "response_policy:all_succeeded")

TIPS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("client|info", "client|list", "ttl", "pttl", "time"), _VARIES),
    **dict.fromkeys(("dump", "migrate"), _VARIES),
    **dict.fromkeys(
        ("object|encoding", "object|freq", "object|idletime", "object|refcount"), _VARIES
    ),
    **dict.fromkeys(
        ("xadd", "xtrim", "xclaim", "xautoclaim", "xpending", "xinfo|consumers"), _VARIES
    ),
    **dict.fromkeys(("command", "command|docs", "command|info", "command|list"), _ORDER_VARIES),
    **dict.fromkeys(("del", "unlink", "exists", "touch"), _SUM_OF_SHARDS),
    **dict.fromkeys(("ping", "flushdb", "flushall", "function|flush"), _ALL_SHARDS),
    **dict.fromkeys(("config|set", "script|flush"), _ALL_NODES),
    "dbsize": ("request_policy:all_shards", "response_policy:agg_sum"),
    "mget": ("request_policy:multi_shard",),
    "mset": ("request_policy:multi_shard", "response_policy:all_succeeded"),
    "msetnx": ("request_policy:multi_shard", "response_policy:agg_min"),
    "keys": ("request_policy:all_shards", *_ORDER_VARIES),
    "randomkey": ("request_policy:all_shards", *_VARIES),
    "scan": (*_VARIES, "request_policy:special"),
    "info": (*_VARIES, "request_policy:all_shards", "response_policy:special"),
}

# ---------------------------------------------------------------------- deprecation

# Since when, and what to use instead.
DEPRECATED: dict[str, tuple[str, str]] = {
    "brpoplpush": ("6.2.0", "`BLMOVE` with the `RIGHT` and `LEFT` arguments"),
    "getset": ("6.2.0", "`SET` with the `GET` argument"),
    "psetex": ("2.6.12", "`SET` with the `PX` argument"),
    "quit": ("7.2.0", "just closing the connection"),
    "rpoplpush": ("6.2.0", "`LMOVE` with the `RIGHT` and `LEFT` arguments"),
    "setex": ("2.6.12", "`SET` with the `EX` argument"),
    "setnx": ("2.6.12", "`SET` with the `NX` argument"),
    "substr": ("2.0.0", "`GETRANGE`"),
}

# ---------------------------------------------------------------------- history

_CONDITIONS = (("7.0.0", "NX, XX, GT and LT."),)
_COUNT = (("6.2.0", "The count argument."),)
_MANY = (("2.4.0", "More than one element at a time."),)
_FRACTIONS = (("6.0.0", "The timeout may have a fraction."),)
_EXCLUSIVE = (("6.2.0", "Exclusive ranges: an id with a parenthesis before it."),)

# The redis version that brought it, and what it was.
HISTORY: dict[str, tuple[tuple[str, str], ...]] = {
    "auth": (("6.0.0", "A username before the password."),),
    **dict.fromkeys(("blpop", "brpop", "brpoplpush"), _FRACTIONS),
    "client|kill": (
        ("2.8.12", "Filters instead of an address."),
        ("2.8.13", "Replicas can be killed by TYPE."),
        ("3.2.0", "The TYPE filter master."),
        ("5.0.0", "The TYPE name replica."),
        ("6.2.0", "The LADDR filter."),
        ("7.4.0", "The MAXAGE filter."),
    ),
    "client|list": (
        ("5.0.0", "The TYPE option."),
        ("6.2.0", "The ID option, and the fields laddr and tot-mem."),
        ("7.0.0", "The field resp."),
        ("7.2.0", "The fields lib-name and lib-ver."),
    ),
    "client|pause": (("6.2.0", "The modes WRITE and ALL."),),
    "config|get": (("7.0.0", "More than one pattern at a time."),),
    "config|set": (("7.0.0", "More than one parameter at a time."),),
    "exists": (("3.0.3", "More than one key at a time."),),
    **dict.fromkeys(("expire", "pexpire", "expireat", "pexpireat"), _CONDITIONS),
    "flushall": (("4.0.0", "ASYNC."), ("6.2.0", "SYNC.")),
    "flushdb": (("4.0.0", "ASYNC."), ("6.2.0", "SYNC.")),
    "hello": (("6.2.0", "Without a protocol version it only reports."),),
    "info": (("7.0.0", "More than one section at a time."),),
    **dict.fromkeys(("lpop", "rpop"), _COUNT),
    **dict.fromkeys(("lpush", "rpush"), _MANY),
    **dict.fromkeys(("lpushx", "rpushx"), (("4.0.0", "More than one element at a time."),)),
    "migrate": (
        ("3.0.0", "COPY and REPLACE."),
        ("3.0.6", "KEYS."),
        ("4.0.7", "AUTH."),
        ("6.0.0", "AUTH2."),
    ),
    "renamenx": (("3.2.0", "Both names may be the same."),),
    "rename": (("3.2.0", "Both names may be the same."),),
    **dict.fromkeys(
        ("restore", "restore-asking"),
        (("3.0.0", "REPLACE."), ("5.0.0", "ABSTTL, IDLETIME and FREQ.")),
    ),
    "scan": (("6.0.0", "The TYPE option."),),
    "script|flush": (("6.2.0", "ASYNC and SYNC."),),
    "set": (
        ("2.6.12", "EX, PX, NX and XX."),
        ("6.0.0", "KEEPTTL."),
        ("6.2.0", "GET, EXAT and PXAT."),
        ("7.0.0", "NX together with GET."),
    ),
    "shutdown": (("7.0.0", "NOW, FORCE and ABORT."),),
    **dict.fromkeys(("ttl", "pttl"), (("2.8.0", "-2 for a key that does not exist."),)),
    "xadd": (
        ("6.2.0", "NOMKSTREAM, trimming by MINID, and LIMIT."),
        ("7.0.0", "Ids of the form ms-*."),
    ),
    "xautoclaim": (("7.0.0", "Answers deleted ids too, and drops them from the pending list."),),
    "xgroup|create": (("7.0.0", "ENTRIESREAD."),),
    "xgroup|setid": (("7.0.0", "ENTRIESREAD."),),
    "xinfo|consumers": (("7.2.0", "The field inactive."),),
    "xinfo|groups": (("7.0.0", "The fields entries-read and lag."),),
    "xinfo|stream": (
        ("6.0.0", "FULL."),
        ("7.0.0", "The fields max-deleted-entry-id, entries-added and recorded-first-entry-id."),
        ("7.2.0", "The field active-time."),
    ),
    "xpending": (("6.2.0", "IDLE, and exclusive ranges."),),
    **dict.fromkeys(("xrange", "xrevrange"), _EXCLUSIVE),
    "xsetid": (("7.0.0", "ENTRIESADDED and MAXDELETEDID."),),
    "xtrim": (("6.2.0", "Trimming by MINID, and LIMIT."),),
}
