"""A replica reaches its primary by TLS."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.certificates import Certificates
from tests.compat.oracles import REDIS_7
from tests.polling import until
from tests.ports import free_port
from tests.replication.deployment import Node
from tests.replication.kinds import OURS, Writer, await_link, await_same, node_of


def tls_node(kind: str, folder: Path, certificates: Certificates) -> tuple[Node, int]:
    """A server with a TLS port, that replicates by TLS; and that port."""
    port = free_port()
    words = ["--tls-port", str(port), "--tls-replication", "yes"]
    for name, value in certificates.parameters().items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    return node_of(kind, folder, *words), port


@pytest.mark.parametrize(
    ("primary_kind", "replica_kind"), [(OURS, OURS), (OURS, REDIS_7), (REDIS_7, OURS)]
)
def test_changes_arrive_by_tls(
    tmp_path: Path, certificates: Certificates, primary_kind: str, replica_kind: str
) -> None:
    primary, tls_port = tls_node(primary_kind, tmp_path / "primary", certificates)
    replica, own_port = tls_node(replica_kind, tmp_path / "replica", certificates)
    try:
        primary.start()
        primary.client.set("large", b"x" * 3_000_000)
        replica.start("--replicaof", f"127.0.0.1 {tls_port}")
        await_link(replica)
        Writer(8).write(primary.client, 200)
        await_same(primary, replica)
        until(lambda: primary.replication()["slave0"]["port"] == own_port, "its TLS port")
        primary.client.execute_command("CLIENT", "KILL", "TYPE", "replica")
        Writer(9).write(primary.client, 100)
        await_same(primary, replica)
        assert primary.client.info("stats")["sync_full"] == 1
    finally:
        for node in (primary, replica):
            node.kill()


def test_a_primary_that_says_nothing_is_given_up(
    tmp_path: Path, certificates: Certificates
) -> None:
    replica, _ = tls_node(OURS, tmp_path / "replica", certificates)
    try:
        replica.start("--repl-timeout", "1")
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.settimeout(20)
            port = listening.getsockname()[1]
            replica.client.execute_command("REPLICAOF", "127.0.0.1", port)
            links = [listening.accept()[0] for _ in range(2)]
            replica.client.execute_command("REPLICAOF", "NO", "ONE")
            links[1].settimeout(20)
            while links[1].recv(4096):  # the end of the second comes at once
                pass
            for link in links:
                link.close()
    finally:
        replica.kill()


def test_a_primary_with_a_certificate_of_nobody_is_not_followed(
    tmp_path: Path, certificates: Certificates
) -> None:
    primary, tls_port = tls_node(OURS, tmp_path / "primary", certificates)
    replica, _ = tls_node(OURS, tmp_path / "replica", certificates)
    try:
        primary.start()
        replica.start(
            "--tls-ca-cert-file", str(certificates["stranger.crt"]),
            "--replicaof", f"127.0.0.1 {tls_port}",
        )  # fmt: skip
        log = tmp_path / "replica" / "log"
        until(lambda: "certificate verify failed" in log.read_text(), "a refusal")
        assert replica.replication()["master_link_status"] == "down"
        assert primary.replication()["connected_slaves"] == 0
    finally:
        for node in (primary, replica):
            node.kill()
