"""Let many hostile clients loose on real servers, at the same time, and see that these hold.

``python -m fuzz.sockets -max_total_time=60`` does so for a minute, one seed after the other;
``python -m fuzz.sockets -seed=7`` draws that round again, and with ``-runs=3`` three times. It is
the same as far as the choices go: when what arrives is up to the system. ``-backend=epoll``,
``asyncio`` or ``both`` says what serves the sockets.

The servers are processes of their own, of the code in this tree. They are built with sanitizers, or
not: whatever these report is found.

Clients come by TCP, TLS and a Unix socket. They ask for more than they read, subscribe, monitor,
track, wait, run transactions and scripts, follow as replicas, kill, pause, configure, save,
migrate, fail over and shut down; and they reset, stop reading, are cut off, and speak other
protocols. A finding is

- a server that ends by a signal, or with a status other than 0;
- a report of a sanitizer, a traceback, or a fault in its log;
- a server that answers no PING on a new connection, or does not stop.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.findings import finding_path
from fuzz.socket_round import Round
from fuzz.socket_server import Finding
from tests.certificates import Certificates

FOREVER = 1 << 60
COUNTED = ("rounds", "connections", "commands", "bytes", "restarts", "kills", "full disks")
SHOWN, ALL = 30, 1 << 30  # lines of what is known of a finding: on the screen, and in the file


def main(options: list[str]) -> int:
    """Run until the time is over, or something is found."""
    values = dict(option.lstrip("-").split("=", 1) for option in options)
    is_endless = "max_total_time" not in values and ("seed" in values or "runs" in values)
    runs = int(values.get("runs", 1 if is_endless else FOREVER))
    began_s = time.monotonic()
    ends_s = began_s + int(values.get("max_total_time", FOREVER if is_endless else 60))
    seed = int(values.get("seed", time.time_ns() // 1000))
    totals: Counter[str] = Counter()
    with TemporaryDirectory(prefix="sockets-", ignore_cleanup_errors=True) as name:
        certificates = Certificates(Path(name))
        while totals["rounds"] < runs and time.monotonic() < ends_s:
            folder = Path(name, str(seed))
            folder.mkdir()
            backend = values.get("backend", "both")
            one = Round(seed, folder, backend, certificates, totals)
            try:
                one.run(ends_s)
            except Finding as finding:
                path = finding_path(values, f"sockets-{seed}.txt")
                path.write_text(report(seed, finding, one, ALL), encoding="utf-8")
                print(report(seed, finding, one, SHOWN))
                passed_s = time.monotonic() - began_s
                print(f"found by -seed={seed} after {passed_s:.0f} s: {finding}")
                print(f"in {shown(totals)}; more of it is in {path}")
                return 1
            shutil.rmtree(folder, ignore_errors=True)
            totals["rounds"] += 1
            seed += "seed" not in values
            print(f"{time.monotonic() - began_s:.0f} s: {shown(totals)}", flush=True)
    print(f"{shown(totals)}: nothing found")
    return 0


def report(seed: int, finding: Finding, one: Round, lines: int) -> str:
    """What is known about *finding*: the last clients, and the last *lines* of each log."""
    text = [f"{finding} (-seed={seed})", "", "The last clients:", *list(one.visits)[-lines:]]
    for server in one.servers:
        text += ["", "What was logged with the alarm:"] * bool(server.alarm)
        text += server.since_alarm()[:lines]
    for number, server in enumerate(one.servers):
        options = " ".join(server.options)
        text += ["", f"Server {number}, on {server.backend}: {options}", *list(server.log)[-lines:]]
    return "\n".join(text)


def shown(totals: Counter[str]) -> str:
    """What has been done."""
    return ", ".join(f"{totals[name]} {name}" for name in COUNTED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
