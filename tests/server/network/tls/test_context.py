"""What the tls-* parameters say, and which of them allow no TLS."""

from __future__ import annotations

import ssl
from typing import Any

import pytest

from server.network.tls.context import BadSettings, make_context
from tests.certificates import PASSWORD, Certificates
from tests.server.network.tls.conftest import MakeConfig


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"tls_cert_file": ""}, "No tls-cert-file configured!"),
        ({"tls_key_file": ""}, "No tls-key-file configured!"),
        ({"tls_ca_cert_file": "", "tls_auth_clients": "yes"},
         "Either tls-ca-cert-file or tls-ca-cert-dir must be specified when tls-cluster,"
         " tls-replication or tls-auth-clients are enabled!"),
        ({"tls_cert_file": "none.crt"},
         "Failed to load certificate: none.crt: No such file or directory"),
        ({"tls_cert_file": "a\0b"}, "Failed to load certificate: a\0b: embedded null byte"),
        ({"tls_key_file": "none.key"},
         "Failed to load private key: none.key: No such file or directory"),
        ({"tls_ca_cert_file": "none.crt"},
         "Failed to configure CA certificate(s) file/directory: No such file or directory"),
        ({"tls_protocols": "TLSv9"},
         "Invalid tls-protocols specified."
         " Use a combination of 'TLSv1', 'TLSv1.1', 'TLSv1.2' and 'TLSv1.3'."),
        ({"tls_ciphers": "FOO"}, "Failed to configure ciphers: FOO"),
        ({"tls_ciphersuites": "FOO"}, "Failed to configure ciphersuites: FOO"),
        ({"tls_dh_params_file": "none.pem"}, "Failed to load none.pem: No such file or directory"),
    ],
)  # fmt: skip
def test_bad_settings_are_refused_with_the_words_of_redis(
    make_config: MakeConfig, parameters: dict[str, Any], reason: str
) -> None:
    with pytest.raises(BadSettings) as raised:
        make_context(make_config(**parameters))
    assert str(raised.value) == reason


@pytest.mark.parametrize("key", ["other.key", "ca.crt"])
def test_a_key_that_is_not_the_certificates_is_refused(
    make_config: MakeConfig, certificates: Certificates, key: str
) -> None:
    with pytest.raises(BadSettings, match="Failed to load certificate"):
        make_context(make_config(tls_key_file=certificates[key]))


def test_a_locked_key_needs_its_password_which_no_error_tells(
    make_config: MakeConfig, certificates: Certificates
) -> None:
    locked = certificates["locked.key"]
    make_context(make_config(tls_key_file=locked, tls_key_file_pass=PASSWORD))
    for password in ("", "wrong secret", "s" * 2000):
        with pytest.raises(BadSettings) as raised:
            make_context(make_config(tls_key_file=locked, tls_key_file_pass=password))
        assert not password or password not in str(raised.value)


@pytest.mark.parametrize(
    ("protocols", "allowed"),
    [
        ("", ["TLSv1.2", "TLSv1.3"]),
        ("TLSv1.2", ["TLSv1.2"]),
        ("tlsv1.3", ["TLSv1.3"]),
        ("TLSv1.3 TLSv1.2", ["TLSv1.2", "TLSv1.3"]),
        ("TLSv1 TLSv1.3", ["TLSv1.3"]),
    ],
)
def test_the_protocols_are_those_that_are_named(
    make_config: MakeConfig, protocols: str, allowed: list[str]
) -> None:
    context = make_context(make_config(tls_protocols=protocols))
    assert [name for name in ("TLSv1.2", "TLSv1.3") if _agree(context, name)] == allowed


def _agree(context: ssl.SSLContext, version: str) -> bool:
    """Whether a client that speaks only *version* gets beyond its first words."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.minimum_version = client.maximum_version = ssl.TLSVersion[version.replace(".", "_")]
    words, answer = ssl.MemoryBIO(), ssl.MemoryBIO()
    client_session = client.wrap_bio(answer, words, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client_session.do_handshake()
    session = context.wrap_bio(words, answer, server_side=True)
    try:
        session.do_handshake()
    except ssl.SSLWantReadError:
        return True
    except ssl.SSLError:
        return False
    return True


def test_ciphers_and_ciphersuites_are_those_that_are_named(make_config: MakeConfig) -> None:
    config = make_config(
        tls_ciphers="ECDHE-ECDSA-AES256-GCM-SHA384", tls_ciphersuites="TLS_CHACHA20_POLY1305_SHA256"
    )
    names = {cipher["name"] for cipher in make_context(config).get_ciphers()}
    assert names == {"ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_CHACHA20_POLY1305_SHA256"}


def test_without_any_named_openssl_chooses(make_config: MakeConfig) -> None:
    names = {cipher["name"] for cipher in make_context(make_config()).get_ciphers()}
    assert {"TLS_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES128-GCM-SHA256"} <= names


@pytest.mark.parametrize("prefers", [True, False])
def test_the_server_chooses_the_cipher_if_it_is_to(make_config: MakeConfig, prefers: bool) -> None:
    options = make_context(make_config(tls_prefer_server_ciphers=prefers)).options
    assert bool(options & ssl.OP_CIPHER_SERVER_PREFERENCE) == prefers


def test_sessions_cannot_be_renegotiated(make_config: MakeConfig) -> None:
    assert make_context(make_config()).options & ssl.OP_NO_RENEGOTIATION


@pytest.mark.parametrize(
    ("mode", "verification"),
    [("no", ssl.CERT_NONE), ("optional", ssl.CERT_OPTIONAL), ("yes", ssl.CERT_REQUIRED)],
)
def test_certificates_of_clients_are_asked_for(
    make_config: MakeConfig, mode: str, verification: ssl.VerifyMode
) -> None:
    assert make_context(make_config(tls_auth_clients=mode)).verify_mode == verification


def test_all_settings_at_once(make_config: MakeConfig, certificates: Certificates) -> None:
    make_context(
        make_config(
            tls_dh_params_file=certificates["dh.pem"],
            tls_ca_cert_dir=str(certificates.folder),
            tls_session_cache_size=100,
            tls_session_cache_timeout=60,
            tls_prefer_server_ciphers=True,
        )
    )
