"""What all tests start from, however they are started."""

from __future__ import annotations

import signal

import pytest

from tests.certificates import Certificates


def pytest_configure() -> None:
    """Hear SIGINT: a shell has what it runs in the background ignore it, and so would servers."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Certificates, made once."""
    return Certificates(tmp_path_factory.mktemp("certificates"))
