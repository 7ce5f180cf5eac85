"""The disk of the tests leaves nothing of a test behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.parts.persistence.fake_files import FULL, FakeFiles


def test_a_fault_that_plans_share_keeps_no_stack() -> None:
    """A stack kept a server, and so the used memory of later tests was 33 MB too high."""
    files = FakeFiles(lambda number, name: FULL)
    with pytest.raises(OSError, match="No space left on device") as caught:
        files.create(Path("log"))
    assert caught.value.errno == FULL.errno
    assert (FULL.__traceback__, FULL.__context__) == (None, None)
