"""The server: its addresses and login, from options or, by default, from the environment.

    PENSTOCK_SERVERS   host:port[,host:port]     if no option names a server
    PENSTOCK_USERNAME                            if no option names a user
    PENSTOCK_PASSWORD or
    PENSTOCK_CREDENTIALS_FILE                    if no option says where the password is

Spark sends a ``Server`` to the executors as part of a plan. So it holds the *name* of the variable
or file with the password, never the password itself. Each process that connects looks the password
up, for each connection: the variable must be set there, or the file must be there.
"""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark_penstock.connect.credentials import Login, read_credentials
from pyspark_penstock.errors import OptionError
from pyspark_penstock.options import SERVER, Options, refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PORT = 6379
SENTINEL_PORT = 26379
LARGEST_PORT = 65_535
DEFAULT_ADDRESS = f"127.0.0.1:{DEFAULT_PORT}"
CONNECT_S = 5.0
ANSWER_S = 60.0
RETRY = "30s"

READ_FROM = PRIMARY, REPLICA = ("primary", "replica")

Address = tuple[str, int]


@dataclass(frozen=True)
class Tls:
    """How to encrypt a connection. The paths are those of the machine that connects."""

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    verify: bool = True

    def check_files(self) -> None:
        """Raises OptionError with the name of a file that cannot be read. ``ssl`` gives no name."""
        files = {"caFile": self.ca_file, "certFile": self.cert_file, "keyFile": self.key_file}
        for name, path in files.items():
            try:
                if path:
                    Path(path).open("rb").close()
            except OSError as problem:
                raise OptionError(
                    f"tls.{name}={path!r}: the file cannot be read: {problem.strerror}"
                ) from None

    def context(self) -> ssl.SSLContext:
        """The settings for ``ssl``. Raises OptionError."""
        self.check_files()
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
        except ssl.SSLError as problem:
            raise OptionError(f"tls.caFile={self.ca_file!r}: no certificate: {problem}") from None
        try:
            if self.cert_file:
                context.load_cert_chain(self.cert_file, self.key_file)
        except ssl.SSLError as problem:
            raise OptionError(
                f"tls.certFile={self.cert_file!r}, tls.keyFile={self.key_file!r}: no certificate "
                f"and its key: {problem}"
            ) from None
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


@dataclass(frozen=True)
class Server:
    """A server, with the addresses at which it, its replicas or nodes of its cluster may be found.

    *retry_s* is how long to wait for a server that is away, as during a restart. If there are
    *sentinels*, they know where it is, by *master_name*, and there are no *addresses*.
    *read_from* says which machines are read: any, if it is empty.
    """

    addresses: tuple[Address, ...]
    username: str | None = None
    password_env: str | None = None
    credentials_file: str | None = None
    db: int = 0
    tls: Tls | None = None
    retry_s: float = 30.0
    sentinels: tuple[Address, ...] = ()
    master_name: str = ""
    read_from: str = ""

    @classmethod
    def from_options(cls, options: Options) -> Server:
        """The server that *options* name; the environment gives what they leave out."""
        options.at_most_one("bootstrap.servers", "host")
        options.at_most_one("bootstrap.servers", "port")
        password_env, credentials_file = password_place(options)
        sentinels, master_name = sentinels_of(options)
        return cls(
            addresses=() if sentinels else addresses_of(options),
            username=options.text("username", os.environ.get("PENSTOCK_USERNAME", "")) or None,
            password_env=password_env,
            credentials_file=credentials_file,
            db=options.integer("db", 0),
            tls=tls_of(options),
            retry_s=options.duration_ms("retryTimeout", RETRY) / 1_000,
            sentinels=sentinels,
            master_name=master_name,
            read_from=options.choice("readFrom", *READ_FROM) if "readFrom" in options else "",
        )

    @classmethod
    def from_environment(cls, given: Mapping[str, str] | None = None) -> Server:
        """The server of a program that has no other options."""
        return cls.from_options(Options(given or {}, "a connection", SERVER))

    @property
    def places(self) -> str:
        """Its addresses, as text for errors."""
        if self.sentinels:
            return f"{self.master_name!r} of Sentinel ({', '.join(map(written, self.sentinels))})"
        return ", ".join(map(written, self.addresses))

    def login(self) -> Login | None:
        """User and password as of now; None if the server needs none. Raises OptionError."""
        if self.credentials_file is not None:
            return self._login_of_file(self.credentials_file)
        if self.password_env is None:
            return Login(self.username) if self.username else None
        try:
            return Login(self.username, os.environ[self.password_env])
        except KeyError:
            raise OptionError(
                f"passwordEnv={self.password_env!r}: this variable is not set where a task or "
                "the driver runs"
            ) from None

    def _login_of_file(self, path: str) -> Login:
        login = read_credentials(path)
        if login.username is None:
            return Login(self.username, login.password)
        if self.username is not None:
            raise OptionError(
                f"'username' (or PENSTOCK_USERNAME) and credentialsFile={path!r}, which has a "
                "username of its own, contradict each other: give one"
            )
        return login


def written(address: Address) -> str:
    """The address as text, the way a user gives it."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def addresses_of(options: Options) -> tuple[Address, ...]:
    """The addresses from options or environment, at least one. Raises OptionError."""
    if "host" in options or "port" in options:
        host = options.text("host", "127.0.0.1")
        refuse_url("host", host, "a host's name or address")
        if not is_host(host):
            raise refusal("host", host, "a host's name or address")
        return ((host, options.integer("port", DEFAULT_PORT, 1, LARGEST_PORT)),)
    text = os.environ.get("PENSTOCK_SERVERS") or DEFAULT_ADDRESS
    text = options.text("bootstrap.servers", text)
    return address_list("bootstrap.servers", text)


def sentinels_of(options: Options) -> tuple[tuple[Address, ...], str]:
    """The Sentinels, and the name by which they know the server. Raises OptionError."""
    if "sentinels" not in options:
        options.refuse(["masterName"], "is a name that Sentinels know: give 'sentinels'")
        return (), ""
    for other in ("bootstrap.servers", "host", "port"):
        options.at_most_one("sentinels", other)
    name = options.text("masterName")
    if not is_host(name):
        raise refusal("masterName", name, "the name by which the Sentinels know the server")
    return address_list("sentinels", options.text("sentinels"), SENTINEL_PORT), name


def address_list(name: str, text: str, default_port: int = DEFAULT_PORT) -> tuple[Address, ...]:
    """The addresses in the option *name*; one that is named twice is one. Raises OptionError."""
    refuse_url(name, text, "host:port[,host:port]")
    return tuple(dict.fromkeys(address(part, name, default_port) for part in text.split(",")))


def refuse_url(name: str, text: str, wanted: str) -> None:
    """Refuse a URL or ``user:password@`` without repeating it: there may be a password in it."""
    if "/" in text or "@" in text:
        raise OptionError(f"{name!r} is a URL: give {wanted}")


def address(
    text: str, name: str = "bootstrap.servers", default_port: int = DEFAULT_PORT
) -> Address:
    """Parse ``host[:port]``; an IPv6 address stands in brackets. Raises OptionError."""
    host, colon, port = text.strip().rpartition(":")
    if not colon or port.endswith("]"):
        host, port = text.strip(), str(default_port)
    host = host.removeprefix("[").removesuffix("]")
    if not is_host(host) or not port.isdecimal():
        raise refusal(name, text, "host:port[,host:port]")
    if not 1 <= int(port) <= LARGEST_PORT:
        raise refusal(name, text, f"host:port with a port from 1 to {LARGEST_PORT}")
    return host, int(port)


def is_host(text: str) -> bool:
    """Whether *text* can be a host's name. Errors show it, so it must have no line breaks."""
    return bool(text) and text.isprintable() and " " not in text


def password_place(options: Options) -> tuple[str | None, str | None]:
    """The variable and the file that hold the password; at most one is not None.

    Raises OptionError.
    """
    options.at_most_one("passwordEnv", "credentialsFile")
    variable, file = options.text("passwordEnv"), options.text("credentialsFile")
    if not ("passwordEnv" in options or "credentialsFile" in options):
        variable = "PENSTOCK_PASSWORD" if "PENSTOCK_PASSWORD" in os.environ else ""
        file = os.environ.get("PENSTOCK_CREDENTIALS_FILE", "")
        if variable and file:
            raise OptionError(
                "PENSTOCK_PASSWORD and PENSTOCK_CREDENTIALS_FILE contradict each other: set one"
            )
    return variable or None, file or None


def tls_of(options: Options) -> Tls | None:
    """How to encrypt; None for no encryption. Any option ``tls.*`` turns it on."""
    names = [name for name in SERVER if name.startswith("tls.") and name in options]
    if not options.flag("tls", bool(names)):
        if names:
            raise OptionError(f"'tls' is false, and {names[0]!r} is given")
        return None
    return Tls(
        ca_file=options.text("tls.caFile") or None,
        cert_file=options.text("tls.certFile") or None,
        key_file=options.text("tls.keyFile") or None,
        verify=options.flag("tls.verify", True),
    )
