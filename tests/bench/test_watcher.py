"""bench/watcher.py: it scrapes, and has an open console."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import watcher
from bench.watcher import Watcher
from tests.console.serving import ConsoleServer
from tests.polling import until


def test_a_watched_server_is_scraped_and_shown_in_a_console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "SCRAPE_SECONDS", 0.01)
    server = ConsoleServer(tmp_path)
    try:
        server.redis.xadd("orders", {"a": "b"})
        with Watcher(server.web_port) as watching:
            until(lambda: watching.scrapes >= 2, "scrapes")
            until(lambda: watching.events_bytes > 200, "what the console shows")
            assert server.redis.info("stats")["total_connections_received"] > 2
    finally:
        server.close()
