"""The tables: our figure and those of the peers, the ratio to the best peer, and the verdict."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.results import Aimed, Comparison, Speed
from bench.servers import Server, pinned

SHORT_OF_LOAD = "*"
BUSY = 0.85
COLUMN = 13  # characters; the names of servers are shorter
VERDICT = f"{'ratio':>7}{'aim':>6}"


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
    """The load of the machine, in a line: the more runs there, the noisier the rates."""
    return f"load average before the run: {os.getloadavg()[0]:.1f}"


def describe(server: Server) -> str:
    """A server's version, in a line."""
    info = server.info()
    compiled = info.get("penstock_compiled")
    if compiled is None:
        name = info.get("server_name", "redis")
        return f"{server.name}: {name}-server {info.get(f'{name}_version', '?')}"
    kind = "compiled" if compiled == "yes" else "NOT COMPILED: its figures mean little"
    return f"{server.name}: {info.get('penstock_version', '')} {kind}"


def generator() -> str:
    """The version of redis-benchmark."""
    ran = subprocess.run(["redis-benchmark", "--version"], capture_output=True, check=False)
    return ran.stdout.decode().strip()


def speed_head(names: Sequence[str]) -> str:
    """The head of the table, in two lines: the columns, and the names of the servers."""
    width = COLUMN * len(names)
    columns = _columns(names)
    return (
        f"{'':34} |{'requests a second':^{width}}  |{'server CPU, us a request':^{width}} |"
        f"{'to the best':^13}\n"
        f"{'':29}depth |{columns}  |{columns} |{VERDICT}"
    )


def speed_line(speed: Speed) -> str:
    """A line for a workload at a depth. A star: the generator limited some server's best rate."""
    samples = [speed.ours, *speed.peers]
    short = min(sample.busy for sample in samples if sample) < BUSY
    rates = _columns(f"{sample.rate:,.0f}" if sample else "-" for sample in samples)
    costs = _columns(f"{sample.cost:.2f}" if sample else "-" for sample in samples)
    return (
        f"{speed.title:29}{speed.depth:>5} |{rates} {SHORT_OF_LOAD if short else ' '}|{costs} |"
        f"{_verdict(speed)}  (noise {speed.noise:.0%})"
    )


def comparison_head(title: str, names: Sequence[str]) -> str:
    """The head of a table of comparisons."""
    return f"{title:38} {'':5} |{_columns(names)} |{VERDICT}"


def comparison_line(comparison: Comparison) -> str:
    """A line for a figure; less is better."""
    figures = _columns(f"{figure:.2f}" for figure in (comparison.ours, *comparison.peers))
    return f"{comparison.title:38} {comparison.unit:5} |{figures} |{_verdict(comparison)}"


def _columns(texts: Iterable[str]) -> str:
    return "".join(f"{text:>{COLUMN}}" for text in texts)


def _verdict(result: Aimed) -> str:
    if result.most is None:
        return f"{result.ratio:>7.2f}{'-':>6}"
    verdict = "NOT reached" if result.missed else "reached"
    return f"{result.ratio:>7.2f}{result.most:>6.2f}  {verdict}"


def summary(results: Iterable[Speed | Comparison]) -> str:
    """The number of aims that were reached, and a line for each that was not."""
    aims = [result for result in results if result.most is not None]
    missed = [result for result in aims if result.missed]
    lines = [f"{len(aims) - len(missed)} of {len(aims)} aims reached."] if aims else []
    for result in missed:
        depth = f" at depth {result.depth}" if isinstance(result, Speed) else ""
        title = f"{result.title}{depth}"
        lines.append(f"    NOT reached: {title}: {result.ratio:.2f}, aim {result.most:.2f}")
    return "\n".join(lines)


def as_json(result: Speed | Comparison) -> dict[str, Any]:
    """A result as JSON."""
    return asdict(result) | {"ratio": result.ratio, "missed": result.missed}
