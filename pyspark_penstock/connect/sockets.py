"""Sockets: connected to an address, with TLS if the server has it."""

from __future__ import annotations

import socket
import ssl

from pyspark_penstock.connect.address import ANSWER_S, CONNECT_S, Address, Server, written
from pyspark_penstock.errors import ServerError

HUNG_UP = (ssl.SSLEOFError, ssl.SSLZeroReturnError)


def connected(server: Server, address: Address) -> socket.socket:
    """A connected socket, with TLS if the server has it.

    Raises OSError, ServerError, OptionError.
    """
    context = None if server.tls is None else server.tls.context()
    plain = socket.create_connection(address, CONNECT_S)
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is not None:  # within CONNECT_S: a server without TLS would wait for more bytes
            plain = context.wrap_socket(plain, server_hostname=address[0])
    except ssl.SSLCertVerificationError as problem:
        plain.close()
        raise ServerError(f"the server at {written(address)} is a stranger: {problem}") from None
    except ssl.SSLError as problem:
        plain.close()
        if isinstance(problem, HUNG_UP):
            raise
        raise ServerError(f"no TLS with the server at {written(address)}: {problem}") from None
    except OSError:
        plain.close()
        raise
    plain.settimeout(ANSWER_S)
    return plain
