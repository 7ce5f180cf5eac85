"""What all tests start from, however they are started."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

from tests.certificates import Certificates
from tests.worth import rounds

EXAMPLES = 100  # of each property, unless it says otherwise


def pytest_configure() -> None:
    """Hear SIGINT: a shell has what it runs in the background ignore it, and so would servers."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.register_profile("here", settings(max_examples=rounds(EXAMPLES), deadline=None))
    settings.load_profile("here")


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates, made once."""
    return Certificates(tmp_path_factory.mktemp("certificates"))
