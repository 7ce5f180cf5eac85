"""Server.start: when it calls *ready*, which tells a supervisor that the server serves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from server import app
from server.app import READY_AFTER_MS, Server
from server.config.parameters import Config
from server.parts.persistence.log_loader import Replay
from server.parts.persistence.snapshot_loader import LoadFailed


@pytest.fixture
def server(sockets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.chdir(tmp_path)
    config = Config()
    config.port = 0
    config.unixsocket = "sock"
    return Server(config)


class Load:
    """A load of four steps of *step_ms* each. *told* has the times at which ready() was called."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, step_ms: int) -> None:
        self.now_ms = 0
        self.told: list[int] = []
        self._step_ms = step_ms
        monkeypatch.setattr(app, "monotonic_ms", lambda: self.now_ms)

    def run(self, _begin: Callable[[], Replay]) -> Iterator[None]:
        for _ in range(3):
            self.now_ms += self._step_ms
            yield
        self.now_ms += self._step_ms

    def ready(self) -> None:
        self.told.append(self.now_ms)


@pytest.mark.asyncio
async def test_ready_is_called_when_the_data_is_loaded(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Load(monkeypatch, step_ms=10)
    monkeypatch.setattr(server.state.persistence, "load", load.run)
    await server.start(load.ready)
    await server.stop()
    assert load.told == [40]


@pytest.mark.asyncio
async def test_ready_is_called_before_the_end_of_a_long_load(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Load(monkeypatch, step_ms=READY_AFTER_MS // 2)
    monkeypatch.setattr(server.state.persistence, "load", load.run)
    await server.start(load.ready)
    await server.stop()
    assert load.told[0] == READY_AFTER_MS


@pytest.mark.asyncio
async def test_ready_is_not_called_if_the_load_fails(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_begin: Callable[[], Replay]) -> Iterator[None]:
        yield
        raise LoadFailed("broken")

    load = Load(monkeypatch, step_ms=0)
    monkeypatch.setattr(server.state.persistence, "load", fail)
    with pytest.raises(LoadFailed):
        await server.start(load.ready)
    await server.stop()
    assert load.told == []


@pytest.mark.asyncio
async def test_the_server_is_loading_until_every_address_is_open(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, a client that connected earlier was served without the data.

    Its writes were lost, since the AOF was not open yet.
    """
    seen: list[bool] = []
    open_all = server._listeners.open

    def look_and_open() -> None:
        seen.append(server.state.restrictions.loading)
        open_all()

    monkeypatch.setattr(server._listeners, "open", look_and_open)
    await server.start()
    await server.stop()
    assert seen == [True]
    assert not server.state.restrictions.loading


def test_a_server_with_much_data_gives_back_no_pages(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To find them took longer the more memory there was, and nobody was served meanwhile."""
    given: list[str] = []
    monkeypatch.setattr("server.app.program_pages.give_back", lambda: given.append("pages"))
    monkeypatch.setattr(app, "resident_bytes", lambda: app.SMALL_BYTES + 1)
    server._give_back_pages()
    assert given == []
    monkeypatch.setattr(app, "resident_bytes", lambda: app.SMALL_BYTES)
    server._give_back_pages()
    assert given == ["pages"]
