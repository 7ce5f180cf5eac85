"""Marks of the Spark side's tests."""

from __future__ import annotations

import pytest

# For tests that do not depend on the server; readers and writers are tested with both.
ONE_SERVER = pytest.mark.parametrize("server", ["penstock"], indirect=True)
