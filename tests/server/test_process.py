"""What the configuration asks of the process."""

import logging
import os
import resource
from pathlib import Path

import pytest

from server import process
from server.config import Config


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Config()


def test_the_server_works_in_dir(config, tmp_path):
    (tmp_path / "data").mkdir()
    config.dir = "data"
    process.change_directory(config)
    assert Path.cwd() == tmp_path / "data"
    assert config.dir == str(tmp_path / "data")


def test_a_dir_that_is_not_there_is_an_error(config):
    config.dir = "nowhere"
    with pytest.raises(FileNotFoundError):
        process.prepare(config)


def test_the_pid_file_has_the_id_of_the_process(config, monkeypatch):
    left_for_exit = []
    monkeypatch.setattr(process.atexit, "register", lambda *call, **_: left_for_exit.append(call))
    config.pidfile = "penstock.pid"
    process.prepare(config)
    assert Path("penstock.pid").read_text() == f"{os.getpid()}\n"
    assert len(left_for_exit) == 1


def test_what_has_no_effect_is_warned_of_once(config, caplog):
    config.given.add("io-threads")
    process.prepare(config)
    warnings = [r.getMessage() for r in caplog.records if "io-threads" in r.getMessage()]
    assert warnings == ["io-threads is accepted, but has no effect on this server"]


def test_no_more_clients_are_promised_than_there_are_files(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (64, 100))
    monkeypatch.setattr(resource, "setrlimit", lambda _what, _limits: None)
    assert process.allowed_clients(20) == 20
    assert process.allowed_clients(10_000) == 100 - process.SPARE_FILES


def test_the_levels_of_redis_are_in_order():
    levels = [process.LOG_LEVELS[n] for n in ("debug", "verbose", "notice", "warning", "nothing")]
    assert levels == sorted(set(levels))
    assert levels[-1] > logging.CRITICAL
