"""The syntax of a command, parsed into a tree of arguments."""

import pytest

from server.table.syntax import Argument, arguments_of


def test_arguments_follow_one_another():
    assert arguments_of("SETRANGE key offset value", "setrange") == [
        Argument("key", "key"),
        Argument("offset", "integer"),
        Argument("value", "string"),
    ]


def test_a_command_may_have_no_arguments():
    assert arguments_of("CONFIG REWRITE", "config|rewrite") == []


def test_a_token_goes_with_the_argument_after_it():
    assert arguments_of("SCAN cursor [MATCH pattern]", "scan")[1] == Argument(
        "pattern", "pattern", token="MATCH", optional=True
    )


def test_a_word_without_letters_is_followed_by_an_argument_of_its_own():
    star, pairs = arguments_of("X * field value [field value ...]", "x")
    assert (star.name, star.token, star.flags) == ("auto-id", "*", [])
    assert [argument.token for argument in pairs.arguments] == ["", ""]


def test_a_token_alone_is_a_pure_token():
    assert arguments_of("X [NOACK]", "x") == [
        Argument("noack", "pure-token", token="NOACK", optional=True)
    ]


def test_alternatives_are_a_oneof():
    (either,) = arguments_of("X <LEFT | RIGHT>", "x")
    assert (either.name, either.type, either.flags) == ("left_or_right", "oneof", [])
    assert [choice.token for choice in either.arguments] == ["LEFT", "RIGHT"]


def test_brackets_around_alternatives_make_them_optional():
    (mode,) = arguments_of("FLUSHDB [ASYNC | SYNC]", "flushdb")
    assert (mode.type, mode.flags) == ("oneof", ["optional"])


@pytest.mark.parametrize(
    ("syntax", "flags"),
    [("X key [key ...]", ["multiple"]), ("X [key [key ...]]", ["optional", "multiple"]),
     ("X [ID key [key ...]]", ["optional", "multiple"]),
     ("X GET key [GET key ...]", ["multiple", "multiple_token"])],
)  # fmt: skip
def test_a_repeated_argument_is_multiple(syntax, flags):
    (key,) = arguments_of(syntax, "x")
    assert (key.name, key.type, key.flags) == ("key", "key", flags)


def test_repeated_pairs_are_a_block():
    key, pairs = arguments_of("HSET key field value [field value ...]", "hset")
    assert key.flags == []
    assert (pairs.name, pairs.type, pairs.flags) == ("field_value", "block", ["multiple"])
    assert [argument.name for argument in pairs.arguments] == ["field", "value"]


def test_blocks_may_be_nested():
    (trim,) = arguments_of("X [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]]", "x")
    strategy, operator, threshold, limit = trim.arguments
    assert (trim.type, trim.flags) == ("block", ["optional"])
    assert [choice.token for choice in strategy.arguments] == ["MAXLEN", "MINID"]
    assert [choice.name for choice in operator.arguments] == ["equal", "approximately"]
    assert threshold == Argument("threshold", "string")
    assert limit == Argument("count", "integer", token="LIMIT", optional=True)


def test_arguments_have_the_types_of_their_names_unless_declared_otherwise():
    syntax = "XRANGE key start end"
    assert [a.type for a in arguments_of(syntax, "xrange")] == ["key", "integer", "integer"]
    own = arguments_of(syntax, "xrange", {"start": "string"})
    assert [a.type for a in own] == ["key", "string", "integer"]


@pytest.mark.parametrize("syntax", ["Y key", "X [key", "X key]", "X <a | b", "X [key ...]"])
def test_malformed_syntax_is_refused(syntax):
    with pytest.raises(ValueError):  # noqa: PT011  (the messages are for developers)
        arguments_of(syntax, "x")
