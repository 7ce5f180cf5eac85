"""What the configuration asks of the process."""

import atexit
import os
import resource
from pathlib import Path

import pytest

from server.config.parameters import Config
from server.process import process


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


def test_a_dir_that_is_not_there_is_named(config):
    config.dir = "nowhere"
    with pytest.raises(OSError, match="Can't chdir to 'nowhere': No such file"):
        process.enter_directory(config)


@pytest.fixture
def left_for_exit(monkeypatch):
    calls = []
    monkeypatch.setattr(atexit, "register", lambda call, path: calls.append((call, path)))
    return calls


def test_the_pid_file_has_the_id_of_the_process(config, left_for_exit):
    config.pidfile = "penstock.pid"
    process.write_pid_file(config)
    assert Path("penstock.pid").read_text() == f"{os.getpid()}\n"
    ((remove, path),) = left_for_exit
    remove(path)
    assert not Path("penstock.pid").exists()


def test_the_pid_file_of_another_is_left_alone_at_the_end(config, left_for_exit):
    config.pidfile = "penstock.pid"
    process.write_pid_file(config)
    Path("penstock.pid").write_text("1\n")
    ((remove, path),) = left_for_exit
    remove(path)
    assert Path("penstock.pid").read_text() == "1\n"
    Path("penstock.pid").unlink()
    remove(path)


def test_a_pid_file_that_cannot_be_written_is_named(config, left_for_exit, capfd, tmp_path):
    config.pidfile = "none/penstock.pid"
    process.write_pid_file(config)
    assert f"'{tmp_path}/none/penstock.pid': No such file or directory" in capfd.readouterr().err
    assert left_for_exit == []


def test_all_that_has_no_effect_is_named_in_one_line(config, caplog):
    config.io_threads = 4
    config.replica_priority = 10
    process.prepare(config)
    warnings = [r.getMessage() for r in caplog.records if "effect" in r.getMessage()]
    assert warnings == ["accepted, but without effect here: replica-priority, io-threads"]


def test_defaults_are_not_worth_a_line(config, caplog):
    config.set_from_line(config.find("io-threads"), ["1"])
    process.prepare(config)
    assert "effect" not in caplog.text


def test_no_more_clients_are_promised_than_there_are_files(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (64, 100))
    monkeypatch.setattr(resource, "setrlimit", lambda _what, _limits: None)
    assert process.allowed_clients(20) == 20
    assert process.allowed_clients(10_000) == 100 - process.SPARE_FILES
