"""Which tests sleep, and why: all others wait for a fact, or move a clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"

# Folders and modules whose sleeps are the point, or are between two looks at a fact.
MAY_SLEEP = {
    "crash": "the moment of a crash is random",
    "simulation": "the loop's time is simulated",
    "replication/test_serving.py": "the moment at which a link is cut differs",
    "spark/test_crash_failover.py": "the moment of a failover is random",
    "bench/test_queues.py": "what is written slowly must not be overtaken",
    "package/queues/test_queue_command.py": "no fact tells that a process waits for an answer",
    "spark/read/test_fleet_reader.py": "answers come later than a reader waits for",
    "polling.py": "between two looks, for all who have no loop of their own",
    "clients/test_redis_py_asyncio.py": "between two looks",
    "compat/processes.py": "between two looks",
    "compat/test_active_times.py": "between two looks",
    "compat/test_append_only.py": "between two looks",
    "compat/test_log_texts.py": "between two looks",
    "compat/test_saving.py": "between two looks",
    "frameworks/programs/faststream_brokers.py": "between two looks",
    "frameworks/programs/limits_rates.py": "between two looks",
    "frameworks/programs/redis_py_client.py": "between two looks",
    "frameworks/programs/taskiq_tasks.py": "between two looks",
    "image/container.py": "between two looks",
    "image/engine.py": "between two looks",
    "package/queues/conftest.py": "a worker's clock, which sleeps as the module time does",
    "package/queues/test_asyncio.py": "between two looks",
    "server/http/test_connection.py": "between two looks",
    "server/network/test_connection.py": "between two requests of a client that does not read",
    "server/running.py": "between two looks",
    "spark/clustered.py": "between two looks",
    "spark/jobs/test_cluster.py": "between two looks",
    "spark/test_crash.py": "between two looks",
    "spark/test_session_failures.py": "between two looks",
    "spark/write/test_delivery.py": "between two looks",
}


def sleeps(source: str) -> Iterator[int]:
    """The lines of *source* that call sleep() of time or asyncio, for more than 0 s."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            is_sleep = ast.unparse(node.func) in ("time.sleep", "asyncio.sleep", "sleep")
            if is_sleep and not (node.args and ast.unparse(node.args[0]) == "0"):
                yield node.lineno


def place_of(path: Path) -> str:
    """The name in MAY_SLEEP that stands for *path*, if there is one; else its own."""
    place = path.relative_to(TESTS)
    return place.parts[0] if place.parts[0] in MAY_SLEEP else place.as_posix()


def test_no_other_test_sleeps() -> None:
    found: dict[str, list[int]] = {}
    for path in TESTS.rglob("*.py"):
        text = path.read_text()
        if "sleep(" in text and (lines := list(sleeps(text))):
            found.setdefault(place_of(path), []).extend(lines)
    assert {place: lines for place, lines in found.items() if place not in MAY_SLEEP} == {}
    assert MAY_SLEEP.keys() - found.keys() == set(), "no sleeps there any more"


def test_sleeps_are_seen() -> None:
    source = "import time\ntime.sleep(0.1)\nawait asyncio.sleep(period)\nawait asyncio.sleep(0)\n"
    assert list(sleeps(source)) == [2, 3]
