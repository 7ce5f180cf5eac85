"""docker/compose.yaml and what it mounts, as far as they can be tried without an engine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.config.parameters import Config
from server.config.redis_conf import Line, lines_of, read_lines

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docker"
FILE = FOLDER / "compose.yaml"


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


SERVICES: dict[str, Any] = read(FILE)["services"]


def mounted(service: str) -> dict[str, Path]:
    """The files that a service is given, by where it finds them."""
    found = {}
    for volume in SERVICES[service]["volumes"]:
        source, target, *_ = volume.split(":")
        if source.startswith("."):
            found[target] = (FOLDER / source).resolve()
    return found


@pytest.mark.skipif(shutil.which("docker-compose") is None, reason="there is no docker-compose")
@pytest.mark.parametrize("profile", [(), ("--profile", "monitoring")])
def test_compose_reads_it(profile: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret")
    variables = {**os.environ, "PENSTOCK_PASSWORD_FILE": str(tmp_path / "password")}
    ran = subprocess.run(
        ["docker-compose", "-f", str(FILE), *profile, "config", "--quiet"],
        env=variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize("service", SERVICES)
def test_every_port_is_published_on_loopback(service: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[service]["ports"])


@pytest.mark.parametrize("service", SERVICES)
def test_every_file_that_is_mounted_exists(service: str) -> None:
    for path in mounted(service).values():
        assert path.is_file(), path


def test_only_the_server_starts_without_a_profile() -> None:
    assert [name for name in SERVICES if "profiles" not in SERVICES[name]] == ["penstock"]


def test_the_server_takes_its_options() -> None:
    words = SERVICES["penstock"]["command"]
    config = Config()
    pairs = zip(words[::2], words[1::2], strict=True)
    read_lines(config, [Line(f"{name.removeprefix('--')} {value}", name) for name, value in pairs])
    assert (config.metrics_port, config.console, config.appendonly) == (9121, True, True)
    assert config.console_allow_remote


def test_the_image_serves_metrics_at_every_address_if_at_all() -> None:
    config = Config()
    read_lines(config, lines_of(FOLDER / "defaults.conf"))
    assert config.metrics_bind == config.bind
    assert config.metrics_port == 0


def test_prometheus_asks_the_server_and_reads_the_alerts() -> None:
    files = mounted("prometheus")
    settings = read(files["/etc/prometheus/prometheus.yml"])
    ours = read(ROOT / "docs/prometheus/prometheus.yml")
    (job,) = settings["scrape_configs"]
    assert job["static_configs"] == [{"targets": ["penstock:9121"]}]
    assert {**job, "static_configs": None} == {**ours["scrape_configs"][0], "static_configs": None}
    for rules in settings["rule_files"]:
        assert read(files[f"/etc/prometheus/{rules}"])["groups"]


def test_grafana_finds_the_dashboard_and_prometheus() -> None:
    files = mounted("grafana")
    folder = "/etc/grafana/provisioning"
    (source,) = read(files[f"{folder}/datasources/penstock.yaml"])["datasources"]
    assert source["url"] == "http://prometheus:9090"
    (provider,) = read(files[f"{folder}/dashboards/penstock.yaml"])["providers"]
    (dashboard,) = [
        path for at, path in files.items() if at.startswith(provider["options"]["path"])
    ]
    assert json.loads(dashboard.read_text())["panels"]
