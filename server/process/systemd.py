"""systemd's protocol for services: one datagram a message, to the socket NOTIFY_SOCKET.

    READY=1                             clients are served; or the reload is done
    RELOADING=1 + MONOTONIC_USEC=now    a reload begins
    STOPPING=1                          the server ends, and nothing stops it from that any more
    STATUS=text                         what it does: one line of `systemctl status`
    EXTEND_TIMEOUT_USEC=n               starting or stopping takes so much longer
    WATCHDOG=1                          it does not hang; to be said every WATCHDOG_USEC

Lines of one datagram belong together. An address that begins with @ is in the abstract namespace.

Source: https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Mapping

ADDRESS = "NOTIFY_SOCKET"

# The longest that anything may take between two messages while data are loaded or saved: an fsync.
EXTENSION_US = 120_000_000
PATIENCE_S = 5.0  # until systemd takes a message that must not be lost

_log = logging.getLogger("penstock")


class Systemd:
    """The messages of this process. None of them raises, and only the first three may wait."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._path = "\0" + address[1:] if address.startswith("@") else address

    def ready(self, status: str) -> None:
        self._send(f"READY=1\n{_status(status)}", PATIENCE_S)

    def reloading(self) -> None:
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}\n", PATIENCE_S)

    def stopping(self, status: str) -> None:
        self._send(f"STOPPING=1\n{_status(status)}", PATIENCE_S)

    def status(self, status: str) -> None:
        self._send(_status(status))

    def busy(self, status: str) -> None:
        """What it does takes time, and is not stuck: systemd must not kill the server for that."""
        self._send(f"EXTEND_TIMEOUT_USEC={EXTENSION_US}\nWATCHDOG=1\n{_status(status)}")

    def alive(self) -> None:
        self._send("WATCHDOG=1\n")

    def _send(self, message: str, patience_s: float = 0.0) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.settimeout(patience_s)
            try:
                sock.sendto(message.encode("utf-8", "backslashreplace"), self._path)
            except OSError as error:
                reason = error.strerror or str(error)
                _log.warning("cannot send to systemd's socket %s: %s", self._address, reason)


def _status(text: str) -> str:
    return f"STATUS={' '.join(text.split())}\n"


def watchdog_s(environment: Mapping[str, str]) -> float:
    """How often systemd waits for a sign of life of this process, in seconds; 0: it does not."""
    microseconds = environment.get("WATCHDOG_USEC", "")
    process = environment.get("WATCHDOG_PID", "")
    if not microseconds.isdecimal() or process not in ("", str(os.getpid())):
        return 0.0
    return int(microseconds) / 1e6
