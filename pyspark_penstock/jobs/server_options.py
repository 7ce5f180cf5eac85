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
PASSWORD = frozenset({"passwordenv", "credentialsfile"})


def connect(given: ServerOptions) -> redis.Redis:
    """A client for the job's own questions. Raises OptionError, ServerError."""
    return Server.from_environment(given).client()


def names_server(options: ServerOptions) -> bool:
    """Whether options say where the server is."""
    return any(name.lower() in ADDRESS for name in options)


def names_password(options: ServerOptions) -> bool:
    """Whether options say where the password is."""
    return any(name.lower() in PASSWORD for name in options)


def with_environment(given: ServerOptions) -> dict[str, str]:
    """The options, and where server and password are, from the environment if they do not say."""
    options = dict(given)
    address, file = map(os.environ.get, ("PENSTOCK_SERVERS", "PENSTOCK_CREDENTIALS_FILE"))
    if address is not None and not names_server(given):
        options["bootstrap.servers"] = address
    if file and not names_password(given) and "PENSTOCK_PASSWORD" not in os.environ:
        options["credentialsFile"] = file
    return options
