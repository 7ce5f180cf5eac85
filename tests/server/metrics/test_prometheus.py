"""Debian's Prometheus scrapes a server; what dashboards and alerts ask for has answers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from penstock.testing import PenstockServer
from tests.polling import until
from tests.ports import free_port

HERE = Path(__file__).parent
DOCS = HERE.parents[2] / "docs"
ALERTS = DOCS / "prometheus" / "alerts.yml"
CONFIG = DOCS / "prometheus" / "prometheus.yml"
DASHBOARD = DOCS / "grafana" / "penstock.json"

QUERIES = [
    line
    for line in (HERE / "queries.txt").read_text().split("\n")
    if line and not line.startswith("#")
]
STRANGE = ['a "quoted" name', "two\nlines", "back\\slash", b"\xff\xfe", b"\xff\xfd", b"nul\0nul"]

CONFIGURATION = """
global: {scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms}
rule_files: [ALERTS]
scrape_configs:
  - job_name: penstock
    static_configs: [{targets: ["127.0.0.1:PLAIN"]}]
  - job_name: tls
    scheme: https
    tls_config: {ca_file: CA}
    static_configs: [{targets: ["127.0.0.1:TLS"]}]
"""


def tool(name):
    """The path of a program of Prometheus."""
    found = shutil.which(name)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(f"{name} is missing")
        pytest.skip(f"needs {name}: apt-get install prometheus")
    return found


class Prometheus:
    """One that runs, and answers queries."""

    def __init__(self, port):
        self._url = f"http://127.0.0.1:{port}"

    def get(self, path, **words):
        """What its HTTP API answers."""
        url = f"{self._url}/api/v1/{path}?{urllib.parse.urlencode(words)}"
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            with error:
                said = error.read().decode()
            if error.code == 503:  # it begins
                raise ConnectionError(said) from None
            raise AssertionError(said) from None

    def query(self, expression):
        """The series that *expression* has now."""
        return self.get("query", query=expression)["result"]


@pytest.fixture(scope="module")
def ports():
    return {"plain": free_port(), "tls": free_port()}


@pytest.fixture(scope="module")
def servers(ports, certificates):
    """One with all that a queue may have, and one that speaks TLS."""
    with_tls = [
        f"metrics-port {ports['tls']}",
        "metrics-tls yes",
        f"tls-cert-file {certificates['server.crt']}",
        f"tls-key-file {certificates['server.key']}",
        "tls-auth-clients no",
    ]
    plain = [f"metrics-port {ports['plain']}", "metrics-consumers yes", "appendonly yes",
             "maxmemory 1gb"]  # fmt: skip
    with PenstockServer(options=plain) as one, PenstockServer(options=with_tls):
        yield one


@pytest.fixture(scope="module")
def client(servers):
    with servers.client() as client:
        yield client


@pytest.fixture(scope="module")
def filled(client):
    for number in range(20):
        client.xadd("orders", {"number": number})
    client.xgroup_create("orders", "shipping", 0)
    client.execute_command(
        "XGROUP", "CFGSET", "orders", "shipping", "MAXDELIVERIES", 2, "DEADLETTER", "dead",
        "MKSTREAM",
    )  # fmt: skip
    client.xreadgroup("shipping", "ann", {"orders": ">"}, count=5)
    for _ in range(2):
        client.xautoclaim("orders", "shipping", "bob", 0, count=3)
    client.set("expires", 1, ex=10_000)
    client.get("expires")
    client.get("missing")
    for name in STRANGE:
        client.xadd(name, {"f": "v"}, id="1-0")
    return client


@pytest.fixture(scope="module")
def prometheus(ports, filled, certificates, tmp_path_factory):
    program = tool("prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    text = CONFIGURATION
    for word, value in (
        ("ALERTS", str(ALERTS)), ("CA", certificates["ca.crt"]),
        ("PLAIN", str(ports["plain"])), ("TLS", str(ports["tls"])),
    ):  # fmt: skip
        text = text.replace(word, value)
    (folder / "prometheus.yml").write_text(text)
    port = free_port()
    process = subprocess.Popen([
        program, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address=127.0.0.1:{port}", "--log.level=error",
    ])  # fmt: skip
    try:
        started = Prometheus(port)
        until(lambda: len(started.query("count_over_time(redis_up[5m]) > 2")) == 2, "three scrapes")
        yield started
    finally:
        process.terminate()
        process.wait()


def test_every_target_is_scraped_without_an_error(prometheus):
    """Over TLS, too."""
    targets = prometheus.get("targets")["activeTargets"]
    assert {target["labels"]["job"]: target["lastError"] for target in targets} == {
        "penstock": "", "tls": "",
    }  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_what_dashboards_and_alerts_for_redis_ask_for_has_an_answer(prometheus, client, query):
    client.get("expires")
    client.get("missing")
    assert until(lambda: prometheus.query(query), query)


def expressions():
    """The queries of our dashboard, with its variables set."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    for panel in panels:
        for target in panel.get("targets", ()):
            expression = target["expr"].replace("$__rate_interval", "1m")
            yield re.sub(r"\$(instance|stream)", ".*", expression)


# These have an answer only if there are replicas, or somebody waits.
SILENT = ("slave", "master_link", 'blocked_clients{instance=~".*"} > 0', "fork_last")


@pytest.mark.parametrize("expression", sorted(set(expressions())))
def test_what_our_dashboard_asks_for_has_an_answer(prometheus, client, expression):
    """While there is some work, and fsyncs. What is SILENT must be a query all the same."""
    if any(word in expression for word in SILENT):
        assert isinstance(prometheus.query(expression), list)
    else:
        assert until(lambda: client.set("busy", 1) and prometheus.query(expression), expression)


def test_the_dashboard_asks_for_no_label_that_is_not_there():
    """That of redis_exporter stays empty where no namespace is."""
    text = DASHBOARD.read_text()
    assert "namespace" not in text
    assert "kubernetes" not in text


def test_our_rules_are_evaluated(prometheus):
    rules = [rule for group in until(lambda: prometheus.get("rules")["groups"], "rules")
             for rule in group["rules"]]  # fmt: skip
    assert len(rules) > 10
    until(
        lambda: {rule["health"] for group in prometheus.get("rules")["groups"]
                 for rule in group["rules"]} == {"ok"},
        "evaluated",
    )  # fmt: skip


def test_dead_letters_are_told(prometheus):
    found = prometheus.query("penstock_stream_group_dead_letters_total")
    assert [(row["metric"]["group"], row["value"][1]) for row in found] == [("shipping", "3")]


def test_strange_names_of_streams_are_labels(prometheus):
    """Prometheus ends a page at a NUL, and replaces what is no UTF-8."""
    found = prometheus.query('redis_stream_length{job="penstock"}')
    names = {row["metric"]["stream"] for row in found}
    assert {name for name in STRANGE if isinstance(name, str)} < names
    assert len(names) == len(STRANGE) + 2
    assert sum("#" in name for name in names) == 3


def test_promtool_finds_nothing_in_the_page(ports, filled):
    """But for names that are redis_exporter's: they break rules of style."""
    promtool = tool("promtool")
    url = f"http://127.0.0.1:{ports['plain']}/metrics"
    with urllib.request.urlopen(url, timeout=60) as answer:
        page = answer.read()
    checked = subprocess.run(
        [promtool, "check", "metrics"], input=page, capture_output=True, check=False
    )
    said = checked.stderr.decode().split("\n")
    assert checked.returncode in {0, 3}, said  # 3: style
    assert [line for line in said if line and not line.startswith("redis_")] == []


@pytest.mark.parametrize(("kind", "path"), [("rules", ALERTS), ("config", CONFIG)])
def test_promtool_finds_nothing_in_what_the_docs_have(kind, path):
    checked = subprocess.run(
        [tool("promtool"), "check", kind, str(path)], capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stderr.decode()


def test_our_rules_ask_for_metrics_that_there_are():
    from server.metrics.page import families  # noqa: PLC0415  (not needed by the others)

    known = {family.name for family in families()} | {"up"}
    known |= {f"{name}{end}" for name in known for end in ("_sum", "_count")}
    asked = re.findall(r"\b(?:redis|penstock)_\w+", re.sub(r"summary:.*", "", ALERTS.read_text()))
    assert asked
    assert set(asked) <= known
