"""What Python's ssl module does not offer: settings, made by OpenSSL's functions, and its words.

An SSLContext is, after the head of every Python object, a pointer to OpenSSL's SSL_CTX:

    | head: object.__basicsize__ bytes | SSL_CTX * | ...

Source: PySSLContext in CPython's Modules/_ssl.c, and SSL_CTX_ctrl(3) of OpenSSL
"""

from __future__ import annotations

import _ssl
import ctypes
import sys
from collections.abc import Callable
from ssl import SSLContext, SSLError, SSLObject
from typing import Any

SET_SESSION_CACHE_SIZE = 42  # SSL_CTRL_SET_SESS_CACHE_SIZE
SET_SESSION_CACHE_MODE = 44  # SSL_CTRL_SET_SESS_CACHE_MODE
CACHE_OFF = 0
CACHE_OF_SERVER = 2


class OutOfReachError(Exception):
    """The OpenSSL that Python uses cannot be called."""


def reason_of(error: SSLError) -> str:
    """What went wrong, in OpenSSL's words: "no shared cipher"."""
    return (error.reason or str(error)).replace("_", " ").lower()


def reader_and_writer(session: SSLObject) -> tuple[Callable[..., Any], Callable[..., int]]:
    """The functions read() and write() of *session*, without the way through SSLObject's methods.

    These do nothing but call the same functions of the wrapped object.
    """
    wrapped = getattr(session, "_sslobj", session)
    return wrapped.read, wrapped.write


def set_ciphersuites(context: SSLContext, names: str) -> bool:
    """Allow these ciphersuites of TLS 1.3; False if OpenSSL does not know them.

    Raises OutOfReachError.
    """
    function = _function("SSL_CTX_set_ciphersuites", ctypes.c_void_p, ctypes.c_char_p)
    return bool(function(_pointer(context), names.encode()))


def set_session_cache(context: SSLContext, size: int | None, timeout_s: int) -> None:
    """Remember *size* sessions (0: any number; None: none), and resume them for *timeout_s*.

    Raises OutOfReachError.
    """
    control = _function(
        "SSL_CTX_ctrl", ctypes.c_void_p, ctypes.c_int, ctypes.c_long, ctypes.c_void_p
    )
    set_timeout = _function("SSL_CTX_set_timeout", ctypes.c_void_p, ctypes.c_long)
    pointer = _pointer(context)
    mode = CACHE_OFF if size is None else CACHE_OF_SERVER
    control(pointer, SET_SESSION_CACHE_MODE, mode, None)
    if size is not None:
        control(pointer, SET_SESSION_CACHE_SIZE, size, None)
        set_timeout(pointer, timeout_s)


def _pointer(context: SSLContext) -> int:
    if sys.implementation.name != "cpython":
        raise OutOfReachError
    return ctypes.c_size_t.from_address(id(context) + object.__basicsize__).value


def _function(name: str, *arguments: type) -> ctypes._NamedFuncPointer:
    """The function *name* of the OpenSSL that this Python uses; it returns a long."""
    library = ctypes.CDLL(getattr(_ssl, "__file__", None))
    try:
        function = library[name]
    except AttributeError:
        raise OutOfReachError from None
    function.argtypes = arguments
    function.restype = ctypes.c_long
    return function
