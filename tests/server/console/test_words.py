"""What browsers send as JSON: what is understood, and what is refused with which words."""

from __future__ import annotations

import json

import pytest

from server.console import words
from server.console.words import BadRequest, Watched


def body(**what: object) -> bytes:
    return json.dumps(what).encode()


def test_commands():
    asked = words.commands(
        body(db=2, commands=[["SET", "k", {"base64": "/w=="}]], transaction=True)
    )
    assert asked == (2, [[b"SET", b"k", b"\xff"]], True)


def test_database_and_transaction_may_be_left_out():
    assert words.commands(body(commands=[["PING"]])) == (0, [[b"PING"]], False)


def test_a_word_may_be_empty_and_of_any_letters():
    assert words.commands(body(commands=[["ECHO", "", "é"]])).commands == [
        [b"ECHO", b"", "é".encode()]
    ]


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "must be a JSON object"),
        (b'{"commands": ' + b"9" * 5000 + b"}", "no JSON"),
        (body(), "commands must be a list"),
        (body(commands="PING"), "commands must be a list"),
        (body(commands=[[]]), "a list of words"),
        (body(commands=["PING"]), "a list of words"),
        (body(commands=[["GET", 1]]), "a word must be"),
        (body(commands=[["GET", {"base64": 1}]]), "a word must be"),
        (body(commands=[["GET", {"base64": "!"}]]), "no base64"),
        (body(commands=[["GET", {"base64": "é"}]]), "no base64"),
        (b'{"commands":[["GET","\\ud800"]]}', "surrogate"),
        (body(commands=[["PING"]] * 10_001), "at most 10000"),
        (body(db=-1, commands=[]), "db must be"),
        (body(db=True, commands=[]), "db must be"),
        (body(db="1", commands=[]), "db must be"),
        (body(db=2**40, commands=[]), "db must be"),
        (body(commands=[], transaction=1), "transaction must be"),
    ],
)  # fmt: skip
def test_bad_commands(sent, why):
    with pytest.raises(BadRequest, match=why):
        words.commands(sent)


@pytest.mark.parametrize(
    "sent",
    [b'{"x":[' + b"[]," * 50_000 + b"0]}", b'{"x":[' + b'"",' * 50_000 + b"0]}",
     b'{"x":["' + b'\\"' * 10 + b'",' + b"0," * 50_000 + b"0]}"],
)  # fmt: skip
def test_very_many_values_are_not_read(sent):
    with pytest.raises(BadRequest, match="more than 40000 values"):
        words.read(sent)


@pytest.mark.parametrize("text", ["a,b" * 100_000, '","' * 30_000, "\\," * 100_000])
def test_a_long_text_with_commas_is_one_value(text):
    assert words.commands(body(commands=[["SET", "k", text]])).commands[0][2] == text.encode()


def test_watching():
    watch = {"name": "clients", "commands": [["INFO", "clients"]]}
    wanted = words.watching(
        body(live="x", every_ms=250, paused=True, db=1, watches=[watch], streams={"match": "a*"})
    )
    watched = Watched("clients", ((b"INFO", b"clients"),))
    assert wanted == ("x", 250, True, 1, [watched], ("", b"a*"))


def test_what_is_watched_may_be_little():
    assert words.watching(body(live="x")) == ("x", 1000, False, 0, [], None)
    assert words.watching(body(streams={"name": "x"})).streams == ("x", b"*")
    assert words.watching(body(streams=None)).streams is None


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ({"every_ms": 99}, "every_ms"),
        ({"every_ms": 60_001}, "every_ms"),
        ({"every_ms": 1e3}, "every_ms"),
        ({"every_ms": True}, "every_ms"),
        ({"live": 1}, "live must be"),
        ({"paused": "no"}, "paused must be"),
        ({"watches": {}}, "watches must be"),
        ({"watches": [{"name": "a", "commands": []}] * 33}, "at most 32"),
        ({"watches": ["a"]}, "must be an object"),
        ({"watches": [{"name": 1, "commands": []}]}, "name must be"),
        ({"watches": [{"name": "a" * 101, "commands": []}]}, "at most 100"),
        ({"watches": [{"name": "a", "commands": [["PING"]] * 65}]}, "at most 64"),
        ({"streams": "*"}, "streams must be"),
        ({"streams": {"match": 1}}, "a word must be"),
    ],
)
def test_bad_watching(what, why):
    with pytest.raises(BadRequest, match=why):
        words.watching(body(**what))


def test_credentials():
    assert words.credentials(body(username="ann", password="é")) == (b"ann", "é".encode())
    assert words.credentials(body(password="x")) == (b"default", b"x")
    with pytest.raises(BadRequest, match="password must be"):
        words.credentials(body(username="ann", password=1))
