"""docker/compose.yaml, by docker compose: it starts, keeps its data, and wants the password."""

from __future__ import annotations

import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.image.container import until
from tests.image.engine import Engine
from tests.ports import free_port

FILE = "docker/compose.yaml"
WITH_SENTINELS = "docker/high-availability.yaml"


class Project:
    """What the file describes, with a port and a password of its own."""

    def __init__(self, engine: Engine, image: str, folder: Path) -> None:
        self._engine = engine
        self._words = compose(engine)
        self.port = free_port()
        self.metrics_port = free_port()
        (folder / "password").write_text("a long password\n")
        self._variables = {
            "COMPOSE_PROJECT_NAME": f"penstock{os.getpid()}",
            "PENSTOCK_IMAGE": image,
            "PENSTOCK_PORT": str(self.port),
            "PENSTOCK_METRICS_PORT": str(self.metrics_port),
            "PENSTOCK_PASSWORD_FILE": str(folder / "password"),
        }

    def do(self, *words: str, file: str = FILE) -> str:
        done = self._engine.call(*self._words, "-f", file, *words, variables=self._variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def client(self) -> redis.Redis:
        """A client of it, once it answers."""
        client = redis.Redis(port=self.port, password="a long password")

        def answers() -> bool:
            try:
                return bool(client.ping())
            except (redis.exceptions.ConnectionError, redis.exceptions.BusyLoadingError):
                return False

        until(answers, lambda: self.do("logs"))
        return client


def compose(engine: Engine) -> list[str]:
    """The words before compose's own."""
    if engine.run("compose", "version").returncode == 0:
        return ["docker", "compose"]
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    pytest.skip("there is no docker compose (on Debian: apt-get install docker-compose)")


@pytest.fixture
def project(engine: Engine, image: str, tmp_path: Path) -> Iterator[Project]:
    project = Project(engine, image, tmp_path)
    try:
        yield project
    finally:
        project.do("down", "--volumes")


def test_the_file_with_sentinels_is_valid(project: Project) -> None:
    project.do("config", "--quiet", file=WITH_SENTINELS)


def test_it_is_valid_and_its_data_outlive_its_containers(project: Project) -> None:
    project.do("config", "--quiet")
    project.do("up", "--detach")
    project.client().set("key", "kept")
    project.do("down")
    project.do("up", "--detach")
    client = project.client()
    assert client.get("key") == b"kept"
    assert client.config_get("appendonly") == {"appendonly": "yes"}
    with pytest.raises(redis.exceptions.AuthenticationError):
        redis.Redis(port=project.port).ping()


def test_metrics_and_the_console_are_published(project: Project) -> None:
    project.do("up", "--detach")
    project.client().set("key", "value")
    base = f"http://127.0.0.1:{project.metrics_port}"
    with urllib.request.urlopen(f"{base}/metrics") as answer:
        assert b"redis_up 1" in answer.read()
    with urllib.request.urlopen(f"{base}/console/") as answer:
        assert b"<html" in answer.read().lower()
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{base}/console/api/session")
