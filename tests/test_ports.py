"""Ports of tests: two processes never get the same one."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from tests import ports

MANY = 2 * ports.BLOCK
CHILD = f"""
from tests.ports import free_port
print(*[free_port() for _ in range({MANY})], flush=True)
input()
"""


def test_processes_beside_each_other_get_different_ports():
    given: list[str] = []
    words = [sys.executable, "-c", CHILD]
    pipe = subprocess.PIPE
    children = [subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) for _ in range(3)]
    try:
        for child in children:
            assert child.stdout
            given += child.stdout.readline().split()
    finally:
        for child in children:
            child.communicate("\n")
    assert len(given) == len(set(given)) == 3 * MANY


def test_a_port_on_which_a_connection_lingers_is_not_given(monkeypatch):
    """Regression: a listener without SO_REUSEADDR could not bind a port in TIME_WAIT."""
    lingering, fresh = ports.free_port(), ports.free_port()
    with socket.create_server(("127.0.0.1", lingering)) as listener:
        there = socket.create_connection(("127.0.0.1", lingering))
        here, _ = listener.accept()
        here.close()  # the side that closes first waits
        there.close()
    monkeypatch.setattr(ports, "_given", iter([lingering, fresh]))
    assert ports.free_port() == fresh


def test_no_port_left_is_said(monkeypatch):
    monkeypatch.setattr(ports, "_given", iter(()))
    with pytest.raises(AssertionError, match="no port is left"):
        ports.free_port()
