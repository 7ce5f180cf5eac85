"""The server's log: where it goes, its first lines, and what is printed as well."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

import pytest

from server.config.parameters import Config
from server.process import build, identity, log
from server.process.log_output import LineOutput, SyslogOutput

ROOT = Path(__file__).parents[3]
OUTPUTS = (LineOutput, SyslogOutput)


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield Config()
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, OUTPUTS)]:
        root.removeHandler(handler)
    log.set_level(Config())


def test_without_a_log_file_the_log_goes_to_standard_output(config, capfd):
    log.start(config)
    logging.getLogger("penstock").info("Ready")
    out, err = capfd.readouterr()
    assert re.fullmatch(r"\d+:M .* \* Ready", out.strip())
    assert err == ""


def test_a_server_that_is_not_compiled_names_the_page_that_says_what_to_do(
    config, capfd, monkeypatch
):
    monkeypatch.setattr(build, "compiled", lambda: False)
    log.start(config)
    log.log_startup(config)
    found = re.search(r'NOT COMPILED: .*, see "(.+)" in (\S+)\n', capfd.readouterr().out)
    assert found is not None
    assert f"\n## {found[1]}\n" in (ROOT / found[2]).read_text("utf-8")


def test_a_log_file_that_was_moved_away_is_created_again(config):
    config.logfile = "server.log"
    log.start(config)
    logging.getLogger("penstock").info("one")
    Path("server.log").rename("server.log.1")
    logging.getLogger("penstock").info("two")
    assert Path("server.log.1").read_text().endswith("* one\n")
    assert Path("server.log").read_text().endswith("* two\n")


def test_a_relative_log_file_stays_where_it_was_when_dir_changes(config, tmp_path, monkeypatch):
    config.logfile = "server.log"
    log.start(config)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir("other")
    logging.getLogger("penstock").info("here")
    assert (tmp_path / "server.log").read_text().endswith("* here\n")


def test_a_log_file_in_a_folder_that_is_missing_is_refused_by_its_path(config, tmp_path):
    config.logfile = "none/server.log"
    with pytest.raises(OSError, match="Can't open the log file") as caught:
        log.start(config)
    assert str(caught.value) == (
        f"Can't open the log file '{tmp_path}/none/server.log': No such file or directory"
    )


def test_a_log_that_cannot_be_written_is_ignored(config, capfd):
    config.logfile = "server.log"
    log.start(config)
    Path("server.log").unlink()
    Path("server.log").mkdir()
    logging.getLogger("penstock").info("lost")
    assert capfd.readouterr() == ("", "")


def test_a_fatal_error_goes_to_the_log_and_to_standard_error(config, capfd):
    config.logfile = "server.log"
    log.start(config)
    log.log_and_print("no room")
    assert Path("server.log").read_text().endswith("# no room\n")
    assert capfd.readouterr() == ("", "penstock: no room\n")


def test_a_fatal_error_is_written_once_if_both_go_to_the_same_place(config, capfd, monkeypatch):
    monkeypatch.setattr(os.path, "sameopenfile", lambda _one, _other: True)
    log.start(config)
    log.log_and_print("no room")
    out, err = capfd.readouterr()
    assert out.endswith("# no room\n")
    assert err == ""


def test_a_fatal_error_is_written_even_with_loglevel_nothing(config, capfd, monkeypatch):
    monkeypatch.setattr(os.path, "sameopenfile", lambda _one, _other: True)
    config.loglevel = "nothing"
    log.start(config)
    log.log_and_print("no room")
    assert capfd.readouterr() == ("", "penstock: no room\n")


def test_a_fatal_error_goes_to_standard_error_while_there_is_no_log(capfd, monkeypatch):
    monkeypatch.setattr(logging.Logger, "hasHandlers", lambda _self: False)
    log.log_and_print("bad option")
    assert capfd.readouterr() == ("", "penstock: bad option\n")


def test_the_first_lines_are_those_that_tools_look_for(config, caplog):
    caplog.set_level(logging.INFO, "penstock")
    config.port = 7000
    config.always_show_logo = True
    log.log_startup(config)
    text = "\n".join(caplog.messages)
    assert "oO0OoO0OoO0Oo Penstock is starting oO0OoO0OoO0Oo" in text
    assert f"pid={os.getpid()}, just started" in text
    assert "Running mode=standalone, port=7000." in text
    assert f" PID: {os.getpid()}" in text  # what redis's own test suite waits for


def test_as_redis_server_the_first_lines_are_those_of_redis(config, caplog, monkeypatch):
    monkeypatch.setattr(identity, "_program", "/opt/bin/redis-server")
    caplog.set_level(logging.INFO, "penstock")
    log.log_startup(config)
    assert caplog.messages[0] == "oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo"
    assert re.fullmatch(
        rf"Redis version=\d+\.\d+\.\d+, bits=64, commit=[0-9a-f]{{8}}, modified=0, "
        rf"pid={os.getpid()}, just started",
        caplog.messages[1],
    )
    assert "Penstock" in caplog.messages[2]  # nobody is deceived
