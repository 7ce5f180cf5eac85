"""What the console finds in a part of a sweep is one event, however busy the machine is."""

from __future__ import annotations

import pytest

from server.console import stream_sweep
from tests.server.console.browser import WHOLE


@pytest.fixture(autouse=True)
def whole_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_sweep, "EVENT_NS", WHOLE)
