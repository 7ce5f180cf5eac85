"""The settings that the tests of TLS begin with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.config.parameters import Config
from tests.certificates import Certificates

MakeConfig = Callable[..., Config]


@pytest.fixture
def make_config(certificates: Certificates) -> MakeConfig:
    """Makes a configuration for TLS, such as tls_protocols="TLSv1.2"."""

    def make(**parameters: Any) -> Config:
        config = Config()
        for name, value in certificates.parameters(tls_port=1, **parameters).items():
            setattr(config, name, value)
        return config

    return make
