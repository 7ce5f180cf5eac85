"""The options of a job's server, which all its sources and sinks get.

Tasks do not see this process's environment. So its settings become options: the address, the user,
and the variable or file with the password, but not the password itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import Client
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.fleet import ONLY, Fleet
from pyspark_penstock.options import FLEET, SERVER, Options

ServerOptions = Mapping[str, str]
ADDRESS = frozenset({"bootstrap.servers", "host", "port", "servers", "sentinels", "mastername"})
PASSWORD = frozenset({"passwordenv", "credentialsfile"})


def connect(given: ServerOptions, preference: Preference = Preference.PRIMARY_PREFERRED) -> Client:
    """A client for the job's own commands. Raises OptionError."""
    return Client(Server.from_environment(given), preference)


def one_by_one(given: ServerOptions) -> list[tuple[str, dict[str, str]]]:
    """The options of each server, with its name: of one, or of those in 'servers'.

    Raises OptionError.
    """
    fleet = Fleet.from_options(Options(given, "a connection", SERVER, FLEET))
    if fleet.is_single:
        return [(ONLY, dict(given))]
    return [(name, overridden(given, {"bootstrap.servers": name})) for name in fleet.names]


def names_server(options: ServerOptions) -> bool:
    """Whether options say where the server is."""
    return any(name.lower() in ADDRESS for name in options)


def overridden(own: ServerOptions, given: ServerOptions) -> dict[str, str]:
    """*own* options, overridden by *given* ones. Address and password are replaced as a whole."""
    said = {name.lower() for name in given}
    for whole in (ADDRESS, PASSWORD):
        if said & whole:
            said |= whole
    return {name: value for name, value in own.items() if name.lower() not in said} | dict(given)


def with_environment(given: ServerOptions) -> dict[str, str]:
    """The options, with server, user and password from the environment if they lack them."""
    options, said = dict(given), {name.lower() for name in given}
    address, user = map(os.environ.get, ("PENSTOCK_SERVERS", "PENSTOCK_USERNAME"))
    if address is not None and not said & ADDRESS:
        options["bootstrap.servers"] = address
    if user and "username" not in said:
        options["username"] = user
    return options if said & PASSWORD else options | password_of_environment()


def password_of_environment() -> dict[str, str]:
    """The option that says where the environment has a password.

    Empty if the environment names two places: that is refused later.
    """
    file = os.environ.get("PENSTOCK_CREDENTIALS_FILE")
    if "PENSTOCK_PASSWORD" in os.environ:
        return {} if file else {"passwordEnv": "PENSTOCK_PASSWORD"}
    return {"credentialsFile": file} if file else {}
