"""The command line, which follows redis-server's conventions."""

import subprocess
import sys

import pytest

from server.config.command_line import BadOptions, read_command_line


def read(*argv, given=""):
    return read_command_line(list(argv), lambda: given)


def test_without_options_the_defaults_hold():
    config = read()
    assert (config.port, config.bind, config.file) == (6379, ["127.0.0.1", "-::1"], None)


def test_options_are_parameters_with_two_dashes():
    config = read("--port", "7000", "--bind", "127.0.0.1", "::1", "--appendonly", "no")
    assert (config.port, config.bind, config.appendonly) == (7000, ["127.0.0.1", "::1"], False)


def test_options_override_the_file(tmp_path):
    path = tmp_path / "redis.conf"
    path.write_text("port 1\ntimeout 5\n")
    config = read(str(path), "--port", "2")
    assert (config.port, config.timeout, config.file) == (2, 5, str(path))


def test_name_and_value_may_be_one_word():
    assert read("--port 7000", "--timeout", "3").port == 7000


def test_a_value_may_begin_with_dashes():
    assert read("--requirepass", "--secret", "--port", "1").requirepass == "--secret"


def test_a_value_may_have_blanks_and_quotes_in_it():
    assert read("--requirepass", 'a "b" \\').requirepass == 'a "b" \\'


@pytest.mark.parametrize("argv", [("--save", ""), ("--save",), ("--save", "--port", "1")])
def test_save_may_be_empty(argv):
    assert read("--save", "60", "1", *argv).save == []


def test_repeated_save_options_add_up():
    assert read("--save", "900", "1", "--save", "60", "5").save == [(900, 1), (60, 5)]


@pytest.mark.parametrize("argv", [("-",), ("-", "--timeout", "3"), ("--timeout", "3", "-")])
def test_a_dash_reads_the_configuration_from_standard_input(argv):
    assert read(*argv, given="# lines\nport 7000\n").port == 7000


def test_options_override_standard_input_too():
    assert read("-", "--port", "2", given="port 1").port == 2


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--nosuch", "1"),
         "option --nosuch: 'nosuch \"1\"': bad directive or wrong number of arguments"),
        (("--port",), "option --port: 'port': wrong number of arguments"),
        (("--port", "x"),
         "option --port: 'port \"x\"': argument couldn't be parsed into an integer"),
        (("--port", "1", "2"), "option --port: 'port \"1\" \"2\"': wrong number of arguments"),
        (("/no/such.conf",),
         "Fatal error, can't open config file '/no/such.conf': No such file or directory"),
        (("-x",), "unexpected argument '-x'"),
    ],
)  # fmt: skip
def test_a_bad_option_is_reported_in_one_line(argv, message):
    with pytest.raises(BadOptions) as raised:
        read(*argv)
    assert str(raised.value) == message


def run(*argv):
    command = [sys.executable, "-m", "server", *argv]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_bad_options_end_the_program_with_status_1_in_the_words_that_tools_look_for():
    done = run("--port", "x")
    assert (done.returncode, done.stdout) == (1, "")
    first, second = done.stderr.splitlines()
    assert "*** FATAL CONFIG FILE ERROR (Penstock " in first
    assert "option --port" in second


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_shows_the_usage(option):
    done = run(option)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: python -m server")


@pytest.mark.parametrize("option", ["--version", "-v"])
def test_version_is_one_line(option):
    done = run(option)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)


def test_the_environment_names_a_file_of_defaults_which_all_else_overrides(tmp_path, monkeypatch):
    defaults, file = tmp_path / "defaults.conf", tmp_path / "redis.conf"
    defaults.write_text("protected-mode no\nbind * -::*\ntimeout 1\nmaxclients 50\n")
    file.write_text("bind 127.0.0.1\ntimeout 5\n")
    monkeypatch.setenv("PENSTOCK_DEFAULTS", str(defaults))
    config = read(str(file), "--maxclients", "60")
    assert (config.protected_mode, config.bind) == (False, ["127.0.0.1"])
    assert (config.timeout, config.maxclients, config.file) == (5, 60, str(file))


def test_defaults_that_cannot_be_read_end_the_start(monkeypatch):
    monkeypatch.setenv("PENSTOCK_DEFAULTS", "/no/such/file")
    with pytest.raises(BadOptions, match="Fatal error, can't open config file '/no/such/file'"):
        read()
