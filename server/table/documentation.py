"""The words of a declaration that change nothing a command does: clients read them in COMMAND."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias

Group: TypeAlias = Literal[
    "bitmap", "cluster", "connection", "generic", "geo", "hash", "hyperloglog", "list", "pubsub",
    "scripting", "server", "set", "sorted-set", "stream", "string", "transactions",
]  # fmt: skip

Category: TypeAlias = Literal[
    "admin", "bitmap", "blocking", "connection", "dangerous", "fast", "geo", "hash", "hyperloglog",
    "keyspace", "list", "pubsub", "read", "scripting", "set", "slow", "sortedset", "stream",
    "string", "transaction", "write",
]  # fmt: skip

# The category of a group's commands. The commands of other groups have none of this kind.
CATEGORY_OF_GROUP: dict[Group, Category] = {
    "bitmap": "bitmap",
    "connection": "connection",
    "generic": "keyspace",
    "geo": "geo",
    "hash": "hash",
    "hyperloglog": "hyperloglog",
    "list": "list",
    "pubsub": "pubsub",
    "scripting": "scripting",
    "set": "set",
    "sorted-set": "sortedset",
    "stream": "stream",
    "string": "string",
    "transactions": "transaction",
}


class Tip(StrEnum):
    """What proxies and cluster clients should know; see redis.io's page on command tips."""

    NONDETERMINISTIC_OUTPUT = "nondeterministic_output"
    NONDETERMINISTIC_OUTPUT_ORDER = "nondeterministic_output_order"
    REQUEST_ALL_NODES = "request_policy:all_nodes"
    REQUEST_ALL_SHARDS = "request_policy:all_shards"
    REQUEST_MULTI_SHARD = "request_policy:multi_shard"
    REQUEST_SPECIAL = "request_policy:special"
    RESPONSE_ALL_SUCCEEDED = "response_policy:all_succeeded"
    RESPONSE_ONE_SUCCEEDED = "response_policy:one_succeeded"
    RESPONSE_AGG_LOGICAL_AND = "response_policy:agg_logical_and"
    RESPONSE_AGG_MIN = "response_policy:agg_min"
    RESPONSE_AGG_SUM = "response_policy:agg_sum"
    RESPONSE_SPECIAL = "response_policy:special"


# What has changed, oldest first: the redis version that brought it, and what it was.
History: TypeAlias = Sequence[tuple[str, str]]

FIRST_VERSION = "0.1.0"  # of Penstock


class OwnWords(NamedTuple):
    """Words that only Penstock knows, of a command that is Redis's: what they do.

    *words* are separated by spaces. *since* is a version of Penstock.
    """

    words: str
    meaning: str
    since: str = FIRST_VERSION


class Deprecated(NamedTuple):
    """Since which redis version, and what to use instead."""

    since: str
    replaced_by: str
