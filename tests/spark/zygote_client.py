"""Takes the place of a process that the zygote forks: it passes on Spark's settings and the exit.

It runs without site-packages, and imports very little, since a streaming query waits for it.
"""

import json
import os
import signal
import socket
import sys

with socket.socket(socket.AF_UNIX) as zygote:
    zygote.connect(sys.argv[1])
    request = json.dumps({"environment": dict(os.environ)}).encode()
    socket.send_fds(zygote, [request[:1]], [0, 1, 2])
    zygote.sendall(request[1:])
    zygote.shutdown(socket.SHUT_WR)
    child = int(zygote.recv(32))
    signal.signal(signal.SIGTERM, lambda number, _: os.kill(child, number))
    zygote.recv(1)  # returns when the process ends
