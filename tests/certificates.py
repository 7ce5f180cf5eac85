"""Certificates for tests, made by openssl: an authority, two servers' and a client's.

They have what clients with Python 3.13 and newer insist on: an authority says that it signs
certificates, and these say by whose key they are signed.
"""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

PASSWORD = "opens the locked key"


class Certificates:
    """Files in *folder*: ca, server, other, client and stranger (whom ca does not know), each with
    .crt and .key; locked.key, which is server.key with PASSWORD; dh.pem.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sign_itself("ca")
        self._sign_itself("stranger")
        for name in ("server", "other", "client"):
            self._make(name)
        openssl(folder, "ec", "-in", "server.key", "-aes128", "-passout", f"pass:{PASSWORD}",
                "-out", "locked.key")  # fmt: skip
        openssl(folder, "genpkey", "-genparam", "-algorithm", "DH", "-pkeyopt", "group:ffdhe2048",
                "-out", "dh.pem")  # fmt: skip

    def __getitem__(self, name: str) -> str:
        """The path of a file."""
        return str(self.folder / name)

    def parameters(self, **others: object) -> dict[str, object]:
        """The parameters of a server that asks for no client certificate, and *others*."""
        return {
            "tls_cert_file": self["server.crt"],
            "tls_key_file": self["server.key"],
            "tls_ca_cert_file": self["ca.crt"],
            "tls_auth_clients": "no",
            **others,
        }

    def context(self, own: str = "") -> ssl.SSLContext:
        """A client's side, with the certificate *own*."""
        context = ssl.create_default_context(cafile=self["ca.crt"])
        if own:
            context.load_cert_chain(self[f"{own}.crt"], self[f"{own}.key"])
        return context

    def _sign_itself(self, name: str) -> None:
        openssl(self.folder, "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-noenc", "-days", "30", "-subj", f"/CN={name}",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign",
                "-keyout", f"{name}.key", "-out", f"{name}.crt")  # fmt: skip

    def _make(self, name: str) -> None:
        openssl(self.folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-noenc", "-subj", f"/O=Penstock/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.csr")  # fmt: skip
        names = self.folder / "names"
        names.write_text(
            "subjectAltName=DNS:localhost,IP:127.0.0.1\nauthorityKeyIdentifier=keyid\n"
        )
        openssl(self.folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt",
                "-CAkey", "ca.key", "-CAcreateserial", "-days", "30", "-extfile", str(names),
                "-out", f"{name}.crt")  # fmt: skip


def openssl(folder: Path, *words: str, typed: bytes = b"") -> bytes:
    """What openssl prints. Without it the test is skipped."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    done = subprocess.run(
        ["openssl", *words], cwd=folder, input=typed, capture_output=True, check=False
    )
    assert words[0] == "s_client" or done.returncode == 0, done.stderr
    return done.stdout + done.stderr
