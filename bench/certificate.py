"""A certificate for servers that are measured with TLS: what they and the generator get of it."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LIFE_DAYS = "2"


@dataclass(frozen=True)
class Certificate:
    """A certificate that signs itself, with an RSA key of 2048 bits, in *folder*."""

    folder: Path

    def server_options(self, port: int) -> list[str]:
        """The settings of a server that speaks TLS on *port*."""
        return ["--tls-port", str(port), "--tls-cert-file", str(self._certificate),
                "--tls-key-file", str(self._key), "--tls-auth-clients", "no"]  # fmt: skip

    @property
    def client_options(self) -> tuple[str, ...]:
        """The options of redis-benchmark."""
        return ("--tls", "--cacert", str(self._certificate))

    @property
    def _certificate(self) -> Path:
        return self.folder / "server.crt"

    @property
    def _key(self) -> Path:
        return self.folder / "server.key"

    def make(self) -> None:
        """Write the files. Raises CalledProcessError, and FileNotFoundError without openssl."""
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", LIFE_DAYS,
             "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", str(self._key), "-out", str(self._certificate)],
            check=True, capture_output=True,
        )  # fmt: skip


@contextmanager
def new_certificate() -> Iterator[Certificate]:
    """A certificate that is there for a with statement."""
    with tempfile.TemporaryDirectory() as folder:
        certificate = Certificate(Path(folder))
        certificate.make()
        yield certificate
