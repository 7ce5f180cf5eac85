"""Lines of the server log: their forms are Redis's and Valkey's, and no message can forge one."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import time
from datetime import datetime

import pytest

from server.config.parameters import Config
from server.process.log_line import LOG_LEVELS, LineFormatter, escaped
from tests.compat.processes import ROOT

LEGACY = re.compile(
    r"(\d+):M (\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3}) ([.*#-]) (.*)", re.DOTALL
)
LOGFMT = re.compile(r'pid=(\d+) role=primary timestamp="([^"]*)" level=([a-z]+) message="([^"]*)"')
CREATED_MS = 1_700_000_000_042


def config(log_format="legacy", timestamps="legacy"):
    made = Config()
    made.log_format, made.log_timestamp_format = log_format, timestamps
    return made


def record(level, text, *values, exc_info=None):
    made = logging.LogRecord("penstock", level, "file", 1, text, values, exc_info)
    made.created, made.msecs = CREATED_MS / 1000, 42.9
    return made


def line(form, level="notice", text="text", *values, timestamps="legacy"):
    return LineFormatter(config(form, timestamps)).format(record(LOG_LEVELS[level], text, *values))


@pytest.mark.parametrize(
    ("level", "mark", "word"),
    [
        ("debug", ".", "debug"),
        ("verbose", "-", "info"),
        ("notice", "*", "notice"),
        ("warning", "#", "warning"),
    ],
)
def test_a_line_has_the_form_that_tools_parse(level, mark, word):
    match = LEGACY.fullmatch(line("legacy", level, "%d keys", 3))
    assert match is not None
    assert match.group(1, 3, 4) == (str(os.getpid()), mark, "3 keys")
    assert match[2].endswith(".042")
    match = LOGFMT.fullmatch(line("logfmt", level, "%d keys", 3))
    assert match is not None
    assert match.group(1, 3, 4) == (str(os.getpid()), word, "3 keys")
    assert match[2].endswith(".042")
    fields = json.loads(line("json", level, "%d keys", 3))
    assert list(fields) == ["pid", "role", "timestamp", "level", "message"]
    assert (fields["pid"], fields["role"]) == (os.getpid(), "primary")
    assert (fields["level"], fields["message"]) == (word, "3 keys")


def test_a_critical_line_has_the_mark_of_a_warning():
    formatter = LineFormatter(config())
    assert " # lost" in formatter.format(record(logging.CRITICAL, "lost"))


def test_the_levels_of_redis_are_in_order():
    levels = [LOG_LEVELS[n] for n in ("debug", "verbose", "notice", "warning", "nothing")]
    assert levels == sorted(set(levels))
    assert levels[-1] > logging.CRITICAL


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/New_York"])
def test_times_are_local_and_to_the_millisecond(zone):
    """In a process of its own: the zone is the process's."""
    program = (
        "from tests.server.process.test_log_line import line\n"
        "for form in ('legacy', 'iso8601', 'milliseconds'):\n"
        "    print(line('logfmt', timestamps=form).split('\"')[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "TZ": zone},
        capture_output=True,
        text=True,
        check=True,
    )
    legacy, iso8601, milliseconds = done.stdout.splitlines()
    assert milliseconds == str(CREATED_MS)
    when = datetime.fromisoformat(iso8601)
    assert round(when.timestamp() * 1000) == CREATED_MS
    assert legacy == when.strftime("%d %b %Y %H:%M:%S.042")


def test_the_legacy_form_has_the_other_times_too():
    text = line("legacy", timestamps="milliseconds")
    assert text == f"{os.getpid()}:M {CREATED_MS} * text"


# ---------------------------------------------------------------------- what clients send

HOSTILE = "".join(map(chr, range(256))) + '\r\n1:M forged\n" level=warning message="\u2028\udc80'


@pytest.mark.parametrize("form", ["legacy", "logfmt", "json"])
def test_no_message_makes_a_second_line_or_reaches_the_terminal(form):
    text = line(form, "notice", "%s", HOSTILE).encode("utf-8", "backslashreplace")
    assert not [byte for byte in text if byte < 0x20 and byte != ord("\t")]
    assert text.count(b"forged") == 1


def test_logfmt_has_only_its_own_quotes():
    assert LOGFMT.fullmatch(line("logfmt", "notice", "%s", HOSTILE))
    assert line("logfmt", "notice", 'say "hi"\r\nyou').endswith(" message=\"say 'hi'  you\"")


def test_json_gives_the_message_back():
    text = line("json", "notice", "%s", HOSTILE).encode("utf-8", "backslashreplace")
    assert json.loads(text)["message"] == HOSTILE


def failure(text):
    try:
        raise ValueError(text)
    except ValueError:
        return sys.exc_info()


def test_a_traceback_is_indented_below_the_line_or_part_of_the_message():
    forged = "bad\n1:M 22 Nov 2026 06:15:23.042 # forged"
    for form in ("legacy", "logfmt", "json"):
        text = LineFormatter(config(form)).format(
            record(logging.ERROR, "bug", exc_info=failure(forged))
        )
        first, *below = text.split("\n")
        assert "ValueError: bad" in text
        assert bool(below) is (form == "legacy")
        assert all(other.startswith("  ") for other in below)
        assert "bug" in first


def test_what_is_escaped_can_be_sent_as_utf_8():
    assert escaped(HOSTILE).encode().isascii() is False
    assert escaped("a\0\n\x1b[2J\udc80") == "a\\x00\\n\\x1b[2J\\udc80"


def test_the_form_follows_the_configuration_at_once():
    parameters = config()
    formatter = LineFormatter(parameters)
    assert LEGACY.fullmatch(formatter.format(record(logging.INFO, "a")))
    parameters.log_format = "logfmt"
    assert LOGFMT.fullmatch(formatter.format(record(logging.INFO, "a")))


def test_the_clock_is_read_by_logging_itself():
    made = logging.LogRecord("penstock", logging.INFO, "file", 1, "now", (), None)
    text = LineFormatter(config(timestamps="milliseconds")).format(made)
    assert abs(int(text.split()[1]) - time.time() * 1000) < 60_000
