"""What is said of the server in the first line: from INFO, whatever server it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock import shown
from penstock.top import cells
from penstock.top.figures import Number, number

_NAMES = (
    ("penstock_version", "Penstock"),
    ("valkey_version", "Valkey"),
    ("redis_version", "Redis"),
)


@dataclass(frozen=True, slots=True)
class Facts:
    """Of the server as a whole."""

    product: str = "server"
    version: str = ""
    role: str = ""
    uptime_s: Number = None
    ops_per_s: Number = None
    used_memory: Number = None
    max_memory: Number = None
    clients: Number = None
    blocked: Number = None
    is_loading: bool = False

    @property
    def name(self) -> str:
        return f"{self.product} {self.version}".rstrip()

    @property
    def is_penstock(self) -> bool:
        return self.product == "Penstock"

    @property
    def line(self) -> str:
        """All of it, for people; what is not known is a dash."""
        most = f" of {cells.octets(self.max_memory)}" if self.max_memory else ""
        up = cells.UNKNOWN if self.uptime_s is None else shown.span(self.uptime_s * 1000)
        words = [
            self.name,
            self.role or cells.UNKNOWN,
            f"up {up}",
            f"{cells.count(self.ops_per_s)} ops/s",
            f"memory {cells.octets(self.used_memory)}{most}",
            f"clients {cells.count(self.clients)}",
            f"blocked {cells.count(self.blocked)}",
        ]
        return "  ".join(words)


def read_facts(info: bytes | str) -> Facts:
    """Of the text that INFO answers; a field that is missing is unknown."""
    text = info.decode(errors="replace") if isinstance(info, bytes) else info
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    product, version = _product(fields)
    return Facts(
        product=product,
        version=shown.text(version),
        role=_role(fields),
        uptime_s=number(fields.get("uptime_in_seconds")),
        ops_per_s=number(fields.get("instantaneous_ops_per_sec")),
        used_memory=number(fields.get("used_memory")),
        max_memory=number(fields.get("maxmemory")),
        clients=number(fields.get("connected_clients")),
        blocked=number(fields.get("blocked_clients")),
        is_loading=fields.get("loading") == "1",
    )


def _product(fields: Mapping[str, str]) -> tuple[str, str]:
    for field, product in _NAMES:
        if fields.get(field):
            return product, fields[field]
    return "server", ""


def _role(fields: Mapping[str, str]) -> str:
    role = {"master": "primary", "slave": "replica"}.get(fields.get("role", ""), "")
    if role == "replica" and fields.get("master_link_status") == "down":
        return "replica, link down"
    return role
