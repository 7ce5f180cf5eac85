"""What clients are told of an error of storage."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from server.table.errors import WIRE_TEXT, on_the_wire
from storage import errors as storage_errors
from storage.errors import StorageError


def kinds() -> Iterator[type[StorageError]]:
    for kind in vars(storage_errors).values():
        if isinstance(kind, type) and issubclass(kind, StorageError) and kind is not StorageError:
            yield kind


@pytest.mark.parametrize("kind", list(kinds()), ids=lambda kind: kind.__name__)
def test_each_error_of_storage_has_a_text(kind: type[StorageError]) -> None:
    assert on_the_wire(kind("why")).text == WIRE_TEXT[kind][1]
