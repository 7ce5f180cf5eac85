"""What all tests start from, however they are started."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from hypothesis import settings

from tests.certificates import Certificates
from tests.worth import rounds

EXAMPLES = 100  # of each property, unless it says otherwise
FEW_EXAMPLES = 5  # show which lines run (make coverage)


def pytest_configure() -> None:
    """Hear SIGINT: a shell has what it runs in the background ignore it, and so would servers."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    count = FEW_EXAMPLES if os.environ.get("PENSTOCK_COVERAGE") else rounds(EXAMPLES)
    settings.register_profile("here", settings(max_examples=count, deadline=None))
    settings.load_profile("here")


def pytest_collection_finish() -> None:
    """Leave what has been collected out of all later collections of garbage.

    Ten thousand tests are a million objects, and each gc.collect() of a test would look at them.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates, made once."""
    return Certificates(tmp_path_factory.mktemp("certificates"))
