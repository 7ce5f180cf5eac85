"""What the tls-* parameters say, as an SSLContext. Errors are Redis's, for the server log."""

from __future__ import annotations

import ssl
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from ssl import SSLContext, TLSVersion

from server.config.parameters import Config
from server.network.tls import openssl

VERIFICATION = {"no": ssl.CERT_NONE, "optional": ssl.CERT_OPTIONAL, "yes": ssl.CERT_REQUIRED}
VERSIONS = {
    "tlsv1": TLSVersion.TLSv1,
    "tlsv1.1": TLSVersion.TLSv1_1,
    "tlsv1.2": TLSVersion.TLSv1_2,
    "tlsv1.3": TLSVersion.TLSv1_3,
}
DEFAULT_PROTOCOLS = "tlsv1.2 tlsv1.3"
WITHOUT = {TLSVersion.TLSv1_1: ssl.OP_NO_TLSv1_1, TLSVersion.TLSv1_2: ssl.OP_NO_TLSv1_2}


class BadSettings(Exception):
    """The configuration allows no TLS; the message says why."""


def make_context(config: Config, is_server: bool = True) -> SSLContext:
    """The settings of new connections. Reads the files that are named. Raises BadSettings.

    If not *is_server*, the connections are ours to a primary. Its certificate is verified, its
    name is not: as in Redis.
    """
    _check_presence(config)
    context = SSLContext(ssl.PROTOCOL_TLS_SERVER if is_server else ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.options |= ssl.OP_NO_RENEGOTIATION  # each costs the server more than the client
    _set_protocols(context, config.tls_protocols)
    if is_server or not config.tls_client_cert_file:
        pair = config.tls_cert_file, config.tls_key_file, config.tls_key_file_pass
    else:  # a primary is shown another certificate than clients are
        pair = (
            config.tls_client_cert_file,
            config.tls_client_key_file,
            config.tls_client_key_file_pass,
        )
    _load_pair(context, *pair)
    _load_authorities(context, config)
    _set_ciphers(context, config)
    if config.tls_dh_params_file:
        with _failing(f"Failed to load {config.tls_dh_params_file}"):
            context.load_dh_params(config.tls_dh_params_file)
    if is_server:
        _set_session_cache(context, config)
    else:
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _check_presence(config: Config) -> None:
    if not config.tls_cert_file:
        raise BadSettings("No tls-cert-file configured!")
    if not config.tls_key_file:
        raise BadSettings("No tls-key-file configured!")
    has_authorities = config.tls_ca_cert_file or config.tls_ca_cert_dir
    if config.tls_auth_clients != "no" and not has_authorities:
        raise BadSettings(
            "Either tls-ca-cert-file or tls-ca-cert-dir must be specified when tls-cluster,"
            " tls-replication or tls-auth-clients are enabled!"
        )


def _set_protocols(context: SSLContext, names: str) -> None:
    words = (names or DEFAULT_PROTOCOLS).lower().split()
    if not words or not all(word in VERSIONS for word in words):
        raise BadSettings(
            "Invalid tls-protocols specified. "
            "Use a combination of 'TLSv1', 'TLSv1.1', 'TLSv1.2' and 'TLSv1.3'."
        )
    chosen = sorted(VERSIONS[word] for word in words)
    with warnings.catch_warnings():  # of the old versions, which somebody has asked for
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version, context.maximum_version = chosen[0], chosen[-1]
        for version, option in WITHOUT.items():
            if chosen[0] < version < chosen[-1] and version not in chosen:
                context.options |= option


def _load_pair(context: SSLContext, certificate: str, key: str, secret: str) -> None:
    for what, path in (("certificate", certificate), ("private key", key)):
        with _failing(f"Failed to load {what}: {path}"), Path(path).open("rb"):
            pass
    # Without a password, OpenSSL would ask the terminal for one.
    password = secret.encode("utf-8", "surrogateescape")
    with _failing(f"Failed to load certificate {certificate} with private key {key}"):
        context.load_cert_chain(certificate, key, password)


def _load_authorities(context: SSLContext, config: Config) -> None:
    file, folder = config.tls_ca_cert_file, config.tls_ca_cert_dir
    if file or folder:
        with _failing("Failed to configure CA certificate(s) file/directory"):
            context.load_verify_locations(file or None, folder or None)
    context.verify_mode = VERIFICATION[config.tls_auth_clients]


def _set_ciphers(context: SSLContext, config: Config) -> None:
    if config.tls_prefer_server_ciphers:
        context.options |= ssl.OP_CIPHER_SERVER_PREFERENCE
    else:
        context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
    try:
        context.set_ciphers(config.tls_ciphers or "DEFAULT")
    except (ssl.SSLError, ValueError):
        raise BadSettings(f"Failed to configure ciphers: {config.tls_ciphers}") from None
    suites = config.tls_ciphersuites
    if not suites:
        return
    try:
        is_set = openssl.set_ciphersuites(context, suites)
    except (openssl.OutOfReachError, ValueError):
        is_set = False
    if not is_set:
        raise BadSettings(f"Failed to configure ciphersuites: {suites}")


def _set_session_cache(context: SSLContext, config: Config) -> None:
    """Without it clients may still resume by the tickets that they keep themselves, as in Redis."""
    size = config.tls_session_cache_size if config.tls_session_caching else None
    try:
        openssl.set_session_cache(context, size, config.tls_session_cache_timeout)
    except openssl.OutOfReachError:
        if size != 20480 or config.tls_session_cache_timeout != 300:
            raise BadSettings("Failed to configure the session cache") from None


@contextmanager
def _failing(what: str) -> Iterator[None]:
    """Turn an error into BadSettings: *what* has failed, and why."""
    try:
        yield
    except ssl.SSLError as error:
        raise BadSettings(f"{what}: {openssl.reason_of(error)}") from None
    except OSError as error:
        raise BadSettings(f"{what}: {error.strerror}") from None
    except ValueError as error:  # a NUL in a path, a password that is too long
        raise BadSettings(f"{what}: {error}") from None
