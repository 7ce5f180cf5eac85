"""What the configuration sets in the process: its directory, PID file and limit of open files."""

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


def test_a_missing_dir_is_named(config):
    config.dir = "nowhere"
    with pytest.raises(OSError, match="Can't chdir to 'nowhere': No such file"):
        process.enter_directory(config)


@pytest.fixture
def exit_handlers(monkeypatch):
    """What is registered to run at exit: pairs of a function and its argument."""
    calls = []
    monkeypatch.setattr(atexit, "register", lambda call, path: calls.append((call, path)))
    return calls


def test_the_pid_file_has_the_id_of_the_process(config, exit_handlers):
    config.pidfile = "penstock.pid"
    process.write_pid_file(config)
    assert Path("penstock.pid").read_text() == f"{os.getpid()}\n"
    ((remove, path),) = exit_handlers
    remove(path)
    assert not Path("penstock.pid").exists()


def test_at_exit_the_pid_file_of_another_process_is_left_alone(config, exit_handlers):
    config.pidfile = "penstock.pid"
    process.write_pid_file(config)
    Path("penstock.pid").write_text("1\n")
    ((remove, path),) = exit_handlers
    remove(path)
    assert Path("penstock.pid").read_text() == "1\n"
    Path("penstock.pid").unlink()
    remove(path)


def test_a_pid_file_that_cannot_be_written_is_named(config, exit_handlers, capfd, tmp_path):
    config.pidfile = "none/penstock.pid"
    process.write_pid_file(config)
    assert f"'{tmp_path}/none/penstock.pid': No such file or directory" in capfd.readouterr().err
    assert exit_handlers == []


def test_parameters_without_effect_are_named_in_one_line(config, caplog):
    config.io_threads = 4
    config.repl_disable_tcp_nodelay = True
    process.prepare(config)
    warnings = [r.getMessage() for r in caplog.records if "effect" in r.getMessage()]
    assert warnings == ["accepted, but without effect here: repl-disable-tcp-nodelay, io-threads"]


def test_a_parameter_without_effect_is_not_named_if_it_has_its_default(config, caplog):
    config.set_from_line(config.parameter("io-threads"), ["1"])
    process.prepare(config)
    assert "effect" not in caplog.text


def test_maxclients_is_limited_by_the_number_of_open_files(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (64, 100))
    monkeypatch.setattr(resource, "setrlimit", lambda _what, _limits: None)
    assert process.allowed_clients(20) == 20
    assert process.allowed_clients(10_000) == 100 - process.SPARE_FILES
