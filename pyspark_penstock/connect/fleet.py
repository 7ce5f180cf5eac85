"""A fleet: the servers that the options name, each by its name.

    servers=a:6379,b:6379    independent servers, each named by its host:port
    (any other option)       one server, whose name is empty

The same server named twice is one. All share the login, TLS and ``retryTimeout``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark_penstock.connect.address import Server, address_list, written
from pyspark_penstock.errors import OptionError
from pyspark_penstock.options import Options

ONLY = ""  # the name of a server that stands alone
PLACES = ("bootstrap.servers", "host", "port", "sentinels", "masterName")


@dataclass(frozen=True)
class Fleet:
    """Servers with their names, in the order in which they were given.

    With *fail_on_unreachable*, readers fail if one of them stays away.
    """

    servers: tuple[tuple[str, Server], ...]
    fail_on_unreachable: bool = True

    @classmethod
    def from_options(cls, options: Options) -> Fleet:
        """The fleet that *options* name. Raises OptionError."""
        fails = options.flag("failOnUnreachable", True)
        if "servers" not in options:
            if not fails:
                raise OptionError("'failOnUnreachable' is for several servers: give 'servers'")
            return cls(((ONLY, Server.from_options(options)),))
        for place in PLACES:
            options.at_most_one("servers", place)
        places = address_list("servers", options.text("servers").lower())
        common = Server.from_options(options)
        named = [(written(at), replace(common, addresses=(at,))) for at in places]
        return cls(tuple(named), fails)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all servers."""
        return tuple(name for name, _ in self.servers)

    @property
    def is_single(self) -> bool:
        """Whether it is one server that was named without ``servers``."""
        return self.names == (ONLY,)

    def server(self, name: str) -> Server:
        """The server with this name. Raises OptionError."""
        for known, server in self.servers:
            if known == name:
                return server
        raise OptionError(f"there is no server {name!r} in servers={','.join(self.names)!r}")
