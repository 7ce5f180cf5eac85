"""Who may speak with the console at all, before anybody asks who it is.

    console no                      404: there is no console
    from or to another machine      403, unless each user that is on has a password and TLS is
                                    spoken, or `console-allow-remote yes`
    a host that is not this one     403: a page of another site whose name was made to lead here
                                    (DNS rebinding) would seem to be a page of this server
    another page's request          403: by Origin, or by Sec-Fetch-Site

A host is this one if it is `localhost`, an address, or one of `console-hosts`. Over TLS it may be
any: a certificate for this server's name is what rebinding does not have.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from server.config.parameters import Config
from server.console.answers import NOT_FOUND, plain
from server.http.messages import Request, Response
from server.users.users import Users

LOCALHOST = "localhost"
OF_THE_PAGE = ("same-origin", "none")  # Sec-Fetch-Site: the page's own, or somebody's typing

NOT_REMOTE = (
    "the console is not served to other machines: give each user that is on a password and set "
    "metrics-tls yes, or set console-allow-remote yes"
)
NOT_THIS_HOST = "the console is not served under this name: add it to console-hosts"
NOT_THIS_PAGE = "this request comes from another page"


class Gate:
    """Lets requests in, or not. *users* are all users."""

    def __init__(self, config: Config, users: Users) -> None:
        self._config = config
        self._users = users

    def refusal(self, request: Request) -> Response | None:
        """Why *request* is not served; None if it is."""
        if not self._config.console:
            return NOT_FOUND
        if not self._is_safe(request):
            return plain(403, NOT_REMOTE)
        if not request.is_tls and not self._is_own_name(host_of(request)):
            return plain(403, NOT_THIS_HOST)
        if not is_own_page(request):
            return plain(403, NOT_THIS_PAGE)
        return None

    def _is_safe(self, request: Request) -> bool:
        """Whether nobody between or at other machines can do harm."""
        if self._config.console_allow_remote:
            return True
        if is_loopback(request.peer) and is_loopback(request.local):
            return True
        return request.is_tls and not any(
            user.is_on and user.passwords.none_needed for user in self._users
        )

    def _is_own_name(self, host: str) -> bool:
        name = name_of(host)
        others = map(str.lower, self._config.console_hosts)
        return name == LOCALHOST or _is_address(name) or name in others


def is_loopback(address: str) -> bool:
    """Whether *address*, ``host:port``, is one of this machine that others cannot reach."""
    try:
        found = ip_address(address.rpartition(":")[0].strip("[]"))
    except ValueError:
        return False
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped.is_loopback
    return found.is_loopback


def host_of(request: Request) -> str:
    """What the browser believes to speak with, and on which port."""
    return request.headers.get("host", "").lower()


def name_of(host: str) -> str:
    """*host* without its port."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host  # of [::1] the last word is no number


def port_of(host: str) -> str:
    """The port of *host*; "" if it has none."""
    _, colon, port = host.rpartition(":")
    return port if colon and port.isascii() and port.isdecimal() else ""


def is_own_page(request: Request) -> bool:
    """Whether it is a page of this server that asks, as far as the browser tells."""
    if request.headers.get("sec-fetch-site", "none") not in OF_THE_PAGE:
        return _is_visit(request)
    origin = request.headers.get("origin")
    return origin is None or origin.lower().partition("://")[2] == host_of(request)


def _is_visit(request: Request) -> bool:
    """Whether somebody follows a link of another page to the console's own."""
    is_navigation = request.headers.get("sec-fetch-mode") == "navigate"
    return is_navigation and request.method == "GET" and "/api/" not in request.path


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
