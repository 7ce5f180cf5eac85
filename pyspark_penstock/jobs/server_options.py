"""Which server a job talks to: the options that all sources and sinks of a job are given.

What the environment says is made explicit here, since tasks do not run in this process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import redis

from pyspark_penstock.connection import Server

ServerOptions = Mapping[str, str]
ADDRESS = frozenset({"bootstrap.servers", "host", "port"})


def connect(given: ServerOptions) -> redis.Redis:
    """A client for the job's own questions. Raises OptionError, ServerError."""
    return Server.from_environment(given).client()


def names_server(options: ServerOptions) -> bool:
    """Whether options say where the server is."""
    return any(name.lower() in ADDRESS for name in options)


def with_environment(given: ServerOptions) -> dict[str, str]:
    """The options, and the address from the environment if they have none."""
    address = os.environ.get("PENSTOCK_SERVERS")
    if address is None or names_server(given):
        return dict(given)
    return {**given, "bootstrap.servers": address}
