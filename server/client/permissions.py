"""The permissions of redis.conf: for DEBUG, and for changing parameters that name files.

A permission is ``yes``, ``no``, or ``local``: for clients of this machine.
"""

from __future__ import annotations

from functools import lru_cache

from server.client.client import Client


def permits(permission: str, client: Client) -> bool:
    """Whether *client* may do what *permission* stands for."""
    return permission == "yes" or (permission == "local" and is_local(client))


def is_local(client: Client) -> bool:
    """Whether *client* came over a unix socket or from a loopback address."""
    address = client.address
    if address.startswith("127."):  # the usual case, checked for each new client
        return True
    return _is_local_host(address.rpartition(":")[0].strip("[]"))


@lru_cache(maxsize=256)
def _is_local_host(host: str) -> bool:
    """Whether *host* is this machine. Cached, since there are few hosts."""
    from ipaddress import IPv6Address, ip_address  # noqa: PLC0415  (2 ms of the start)

    try:
        address = ip_address(host)
    except ValueError:
        return host not in ("", "?")  # the path of a unix socket
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback
