"""The tables: each figure beside Redis's, and a mark where the aim was missed."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.results import Comparison, Speed
from bench.servers import Server, pinned

MISSED = "<- below the aim"
LARGER = "<- above the aim"
SHORT_OF_LOAD = "*"
BUSY = 0.85

SPEED_HEAD = (
    f"{'':28}{'':>6} | {'requests a second':^33} | {'server CPU, us a request':^25} |\n"
    f"{'':28}{'depth':>6} | {'ours':>10}{'Redis':>10}{'ratio':>7}{'aim':>6} |"
    f" {'ours':>8} {'Redis':>8} {'ratio':>6}  | noise"
)


def machine() -> str:
    """The CPU and the kernel, in a line."""
    models = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    processor = f"{len(models)} x {models[0]}" if models else platform.machine()
    kind = "a CPU for the server, one for the load" if pinned() else "not pinned"
    return f"{processor}, Linux {platform.release()}, Python {platform.python_version()}; {kind}"


def neighbours() -> str:
    """What else runs on the machine, in a line: the more, the noisier the rates."""
    return f"load average before the run: {os.getloadavg()[0]:.1f}"


def describe(server: Server) -> str:
    """A server's version, in a line."""
    info = server.info()
    compiled = info.get("penstock_compiled")
    if compiled is None:
        return f"{server.name}: redis-server {info.get('redis_version', '?')}"
    kind = "compiled" if compiled == "yes" else "NOT COMPILED: its figures mean little"
    return f"{server.name}: {info.get('penstock_version', '')} {kind}"


def generator() -> str:
    """The version of redis-benchmark."""
    ran = subprocess.run(["redis-benchmark", "--version"], capture_output=True, check=False)
    return ran.stdout.decode().strip()


def speed_line(speed: Speed) -> str:
    """A workload at a depth. A star: in some server's best round, the load was what was short."""
    short = min(speed.ours.busy, speed.redis.busy) < BUSY
    aim = f"{speed.least:.2f}" if speed.least else "-"
    mark = f"{MISSED}{f', by CPU {1 / speed.cost_ratio:.2f}' if short else ''}"
    return (
        f"{speed.title:28}{speed.depth:>6} |"
        f" {speed.ours.rate:>10,.0f}{speed.redis.rate:>10,.0f}"
        f"{speed.rate_ratio:>7.2f}{aim:>6}{SHORT_OF_LOAD if short else ' '}|"
        f" {speed.ours.cost:>8.2f} {speed.redis.cost:>8.2f} {speed.cost_ratio:>6.2f}  |"
        f" {speed.spread:>4.0%} {mark if speed.missed else ''}"
    ).rstrip()


def comparison_head(title: str) -> str:
    """The head of a table of comparisons."""
    return f"{title:34} {'':5} {'ours':>10}{'Redis':>10}{'ratio':>7}{'aim':>6}"


def comparison_line(comparison: Comparison) -> str:
    """A figure of which less is better."""
    aim = f"{comparison.most:.2f}" if comparison.most else "-"
    return (
        f"{comparison.title:34} {comparison.unit:5}"
        f" {comparison.ours:>10.2f}{comparison.redis:>10.2f}{comparison.ratio:>7.2f}{aim:>6}"
        f" {LARGER if comparison.missed else ''}"
    ).rstrip()


def summary(results: Iterable[Speed | Comparison]) -> str:
    """How many aims were reached."""
    aims = [r for r in results if (r.least if isinstance(r, Speed) else r.most)]
    missed = [result for result in aims if result.missed]
    return f"{len(aims) - len(missed)} of {len(aims)} aims reached." if aims else ""


def as_json(result: Speed | Comparison) -> dict[str, Any]:
    """A result for a program to read."""
    if isinstance(result, Comparison):
        return {
            "title": result.title,
            "unit": result.unit,
            "ours": result.ours,
            "redis": result.redis,
            "ratio": result.ratio,
            "aim_at_most": result.most,
        }
    return {
        "title": result.title,
        "depth": result.depth,
        "ours_per_second": result.ours.rate,
        "redis_per_second": result.redis.rate,
        "rate_ratio": result.rate_ratio,
        "aim_at_least": result.least or None,
        "ours_cpu_us": result.ours.cost,
        "redis_cpu_us": result.redis.cost,
        "cpu_ratio": result.cost_ratio,
        "ours_busy": result.ours.busy,
        "redis_busy": result.redis.busy,
        "noise": result.spread,
    }
