"""ServerProcess waits until its server is ready."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.compat.processes import ServerProcess

LOADING_AT_FIRST = """
import socket, sys
from tests.compat import resp
from tests.compat.connection import Stream

pings = 0
with socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1]))) as listener:
    while True:
        client, _ = listener.accept()
        stream = Stream(client)
        while (request := resp.read(stream)) != resp.CLOSED:
            name = request[1][0][1]
            pings += name == b"PING"
            if name == b"CLIENT":
                client.sendall(b":1\\r\\n")
            elif pings < 3:
                client.sendall(b"-LOADING Redis is loading the dataset in memory\\r\\n")
            elif name == b"PING":
                client.sendall(b"+PONG\\r\\n")
            else:
                client.sendall(b"*2\\r\\n$7\\r\\nversion\\r\\n$5\\r\\n7.0.0\\r\\n")
"""


def test_a_loading_server_is_not_asked_for_its_version(tmp_path: Path) -> None:
    server = ServerProcess([sys.executable, "-c", LOADING_AT_FIRST], tmp_path)
    assert server.version == (7, 0, 0)
    server.stop()
