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


def test_all_that_has_no_effect_is_named_in_one_line(config, caplog):
    config.io_threads = 4
    config.replica_priority = 10
    process.prepare(config)
    warnings = [r.getMessage() for r in caplog.records if "effect" in r.getMessage()]
    assert warnings == ["accepted, but without effect here: replica-priority, io-threads"]


def test_defaults_are_not_worth_a_line(config, caplog):
    config.give(config.find("io-threads"), ["1"])
    process.prepare(config)
    assert "effect" not in caplog.text


def test_no_more_clients_are_promised_than_there_are_files(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (64, 100))
    monkeypatch.setattr(resource, "setrlimit", lambda _what, _limits: None)
    assert process.allowed_clients(20) == 20
    assert process.allowed_clients(10_000) == 100 - process.SPARE_FILES


def test_the_levels_of_redis_are_in_order():
    levels = [process.LOG_LEVELS[n] for n in ("debug", "verbose", "notice", "warning", "nothing")]
    assert levels == sorted(set(levels))
    assert levels[-1] > logging.CRITICAL
