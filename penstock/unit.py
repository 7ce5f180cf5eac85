"""``penstock unit``: the systemd unit that runs this installation as a service."""

from __future__ import annotations

import sys

CONFIGURATION = "/etc/penstock/penstock.conf"

UNIT = """\
# Written by penstock unit. For /etc/systemd/system/penstock.service.
[Unit]
Description=Penstock, a Redis-Streams server
After=network.target

[Service]
Type=notify
ExecStart={command} {configuration} --supervised systemd --daemonize no
ExecReload=/bin/kill -HUP $MAINPID
User=penstock
Group=penstock
UMask=0077
StateDirectory=penstock
StateDirectoryMode=0750
WorkingDirectory=/var/lib/penstock
# The server asks for more time while it loads or saves.
TimeoutStartSec=2min
TimeoutStopSec=2min
# It gives a sign of life several times in this time. One that hangs is ended, and started again.
WatchdogSec=2min
Restart=on-failure
# maxclients, and some more
LimitNOFILE=20000
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
LockPersonality=yes

[Install]
WantedBy=multi-user.target
"""


def print_unit(argv: list[str], command: str) -> int:
    """Print the unit; *argv* may name the configuration file. The exit status."""
    if len(argv) > 1 or argv[:1] in (["--help"], ["-h"]):
        sys.stderr.write(f"Usage: {command} unit [/path/to/redis.conf]\n")
        return 0 if len(argv) == 1 else 2
    sys.stdout.write(unit_text(*argv))
    return 0


def unit_text(configuration: str = CONFIGURATION) -> str:
    """The unit. It names this interpreter, whatever PATH is."""
    words = [sys.executable, "-P", "-m", "penstock", "serve"]
    command = " ".join(_quoted(word) for word in words)
    return UNIT.format(command=command, configuration=_quoted(configuration))


def _quoted(word: str) -> str:
    """*word* as systemd reads it back: its own quotes, and % and $ doubled."""
    doubled = word.replace("%", "%%").replace("$", "$$")
    if doubled and not any(sign in doubled for sign in " \t\n\"'\\;"):
        return doubled
    escaped = doubled.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
