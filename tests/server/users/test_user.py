"""A user by its rules: what they make of it, and how it is shown."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server import commands as _commands  # noqa: F401  (fills the table)
from server.table.command import TABLE
from server.users.bad_rule import BadRule
from server.users.user import UnmatchedParenthesis, User, joined_rules, user_with_all_rights

HASH = hashlib.sha256(b"p").hexdigest().encode()


def user(*rules: bytes, all_channels: bool = False) -> User:
    made = User(b"ann", all_channels)
    for rule in rules:
        made.apply(rule, all_channels)
    return made


def described(*rules: bytes) -> bytes:
    return user(*rules).description()


def why(*rules: bytes) -> str:
    with pytest.raises(BadRule) as caught:
        user(*rules)
    return str(caught.value)


def may(who: User, line: str) -> bool:
    """Whether *who* may run *line*."""
    argv = line.encode().split(b" ")
    row = TABLE.find(argv[0])
    assert row is not None
    row = row.subcommands.get(argv[1].lower(), row) if row.subcommands else row
    return who.denial(row, argv) is None


# ---------------------------------------------------------------------- how it is shown


@pytest.mark.parametrize(
    ("rules", "shown"),
    [
        (b"", b"off sanitize-payload resetchannels -@all"),
        (b"on >p", b"on sanitize-payload #" + HASH + b" resetchannels -@all"),
        (b"ON nopass skip-sanitize-payload allkeys AllChannels +@all",
         b"on nopass skip-sanitize-payload ~* &* +@all"),
        (b"~a ~b ~a &x &x &y", b"off sanitize-payload ~a ~b resetchannels &x &y -@all"),
        (b"%R~r %W~w %RW~b %rw~c", b"off sanitize-payload %R~r %W~w ~b ~c resetchannels -@all"),
        (b"~x %R~x %R~y %W~y", b"off sanitize-payload ~x ~y resetchannels -@all"),
        (b"%R", b"off sanitize-payload %R~ resetchannels -@all"),
        (b"+get +@read -get +get", b"off sanitize-payload resetchannels -@all +@read +get"),
        (b"+GET +@READ -GET", b"off sanitize-payload resetchannels -@all +@read -get"),
        (b"+config|get +config|set -config", b"off sanitize-payload resetchannels -@all -config"),
        (b"+@all -config +config|set -config|set",
         b"off sanitize-payload resetchannels +@all -config -config|set"),
        (b"+select|0 +select|1 +select|0",
         b"off sanitize-payload resetchannels -@all +select|1 +select|0"),
        (b"+select|0 +select", b"off sanitize-payload resetchannels -@all +select"),
        (b"+get|A", b"off sanitize-payload resetchannels -@all +get|a"),
        (b"+@read +@all", b"off sanitize-payload resetchannels +@all"),
        (b"~a &b +@all reset", b"off sanitize-payload resetchannels -@all"),
        (b"nopass >p", b"off sanitize-payload #" + HASH + b" resetchannels -@all"),
        (b">p nopass", b"off nopass sanitize-payload resetchannels -@all"),
        (b">p >p #" + HASH + b" <p", b"off sanitize-payload resetchannels -@all"),
    ],
)  # fmt: skip
def test_the_description_has_redis_normal_form(rules, shown):
    assert described(*rules.split()) == shown


def test_selectors_are_shown_in_parentheses_behind_the_first():
    assert described(b"(~a +get)", b"( %R~b  allchannels )", b"()") == (
        b"off sanitize-payload resetchannels -@all (~a resetchannels -@all +get)"
        b" (%R~b &* -@all) (resetchannels -@all)"
    )
    assert described(b"(~a)", b"clearselectors", b"(~b)").endswith(
        b"-@all (~b resetchannels -@all)"
    )


def test_what_a_new_selector_may_hear_is_a_parameter():
    everything = user(b"(~a)", b"resetchannels", b"reset", b"(~b)", all_channels=True)
    assert everything.description() == b"off sanitize-payload &* -@all (~b &* -@all)"


ON_LOGIN = b"on off nopass resetpass >a >b sanitize-payload skip-sanitize-payload reset".split()
ON_KEYS = b"allkeys resetkeys ~a* %R~r* %W~* ~*".split()
ON_CHANNELS = b"allchannels resetchannels &c* &*".split()
ON_COMMANDS = b"""+@all -@all +@read -@write +@fast +get -get +config -config +config|get
 -config|set +select|0 +get|x""".split()
SELECTORS = [b"(~s* +set)", b"(%R~* +@read &x)", b"clearselectors"]
RULES = st.lists(
    st.sampled_from([*ON_LOGIN, *ON_KEYS, *ON_CHANNELS, *ON_COMMANDS, *SELECTORS]), max_size=12
)


@given(RULES)
def test_a_description_makes_the_same_user_again(rules):
    """What ACL LIST shows can be given to ACL SETUSER, an aclfile or redis.conf."""
    made = User(b"ann")
    for rule in rules:
        try:
            made.apply(rule)
        except BadRule:
            continue
    again = user(*joined_rules(made.description().split(b" ")))
    assert again.description() == made.description()
    for line in ("get a1", "set r1 x", "config get x", "config set a b", "select 0", "publish c x"):
        assert may(again, line) == may(made, line)


def test_a_rule_on_a_command_takes_the_place_of_those_on_its_parts():
    words = [b"+get|%d" % number for number in range(10_000)]
    made = user(*words, b"+set|x", b"-config|set", b"+get")
    assert made.description().endswith(b"-@all +set|x -config|set +get")
    made = user(*words, b"+get|7")
    assert made.description().split()[-2:] == [b"+get|9999", b"+get|7"]
    made.apply(b"allkeys")
    assert may(made, "get 7")
    assert not may(user(*words, b"allkeys", b"-get"), "get 7")


# ---------------------------------------------------------------------- rules that are refused


NO_RULES = [
    b"nosuch", b"%~a", b"%", b"%X~a", b"%RR~a", b"%R*", b"~a b", b")", b"&a\tb", b"on ",
    b"(+get on)", b"(())", b"+config|", b"+get|",
]  # fmt: skip
UNKNOWN = [
    b"+", b"-", b"+nosuch", b"-nosuch", b"+@nosuch", b"+|x", b"-select|0", b"+config|nosuch",
    b"+nosuch|x", b"+get|a|b", b"(+nosuch)", b"-get|",
]  # fmt: skip


@pytest.mark.parametrize("rule", NO_RULES)
def test_a_word_that_is_no_rule_is_a_syntax_error(rule):
    assert why(rule) == "Syntax error"


@pytest.mark.parametrize("rule", UNKNOWN)
def test_unknown_commands_and_categories_are_refused(rule):
    assert why(rule) == "Unknown command or category name in ACL"


def test_a_first_argument_of_a_subcommand_is_refused():
    assert why(b"+config|get|x").startswith("Allowing first-arg of a subcommand")


def test_patterns_behind_all_keys_or_channels_are_refused():
    assert why(b"~*", b"~x").startswith("Adding a pattern after the * pattern (or the 'allkeys'")
    assert why(b"&*", b"&x").startswith(
        "Adding a pattern after the * pattern (or the 'allchannels'"
    )


def test_hashes_are_checked_and_only_known_passwords_can_be_removed():
    assert "exactly 64 characters" in why(b"#abc")
    assert "exactly 64 characters" in why(b"#" + HASH.upper())
    assert "exactly 64 characters" in why(b"!abc")
    assert "does not exist" in why(b"<nosuch")
    assert "does not exist" in why(b"!" + HASH)


@given(st.lists(st.binary(max_size=12), max_size=6))
def test_cve_2024_31227_and_cve_2024_51741_malformed_selectors_are_errors_and_no_more(words):
    made = User(b"ann")
    try:
        for rule in joined_rules(words):
            made.apply(rule)
    except BadRule:
        pass
    assert made.description()
    assert may(made, "get x") in (True, False)


@pytest.mark.parametrize("rule", [b"%R", b"%W", b"(%R)", b"%RW"])
def test_cve_2024_51741_a_pattern_without_a_tilde_is_the_empty_one(rule):
    assert not may(user(rule, b"+get"), "get x")


def test_cve_2024_31228_a_pattern_of_many_stars_is_matched_in_no_time():
    who = user(b"+get", b"~" + b"a*" * 500 + b"b")
    assert not may(who, "get " + "a" * 1000)


# ---------------------------------------------------------------------- words between parentheses


def test_words_between_parentheses_are_one_rule():
    assert joined_rules([b"on", b"(+get", b"~a)", b"(~b)", b"(", b")"]) == [
        b"on",
        b"(+get ~a)",
        b"(~b)",
        b"( )",
    ]
    with pytest.raises(UnmatchedParenthesis) as caught:
        joined_rules([b"(+get", b"~a"])
    assert caught.value.start == b"(+get"


# ---------------------------------------------------------------------- passwords


def test_a_password_counts_only_for_a_user_who_is_on():
    assert user(b"on", b">p").accepts(b"p")
    assert not user(b"on", b">p").accepts(b"q")
    assert not user(b"off", b">p").accepts(b"p")
    assert not user(b"on").accepts(b"")
    assert user(b"on", b"nopass").accepts(b"whatever")
    assert not user(b"off", b"nopass").accepts(b"whatever")


def test_any_of_several_passwords_will_do():
    who = user(b"on", b">old", b">new")
    assert who.accepts(b"old") and who.accepts(b"new") and not who.accepts(b"oldnew")


# ---------------------------------------------------------------------- rights


def test_a_user_with_all_rights_is_known_as_such():
    assert user_with_all_rights(b"root").may_do_everything
    assert user(b"(~* &* +@all)").may_do_everything
    assert not user(b"~*", b"&*", b"+@all", b"-debug").may_do_everything
    assert user(b"~*", b"&*", b"+@all", b"-debug", b"+debug").may_do_everything
    assert not user(b"~*", b"+@all").may_do_everything


def test_subcommands_have_rights_of_their_own():
    who = user(b"+config|get", b"+select|1")
    assert may(who, "config get x") and may(who, "CONFIG GET x") and may(who, "select 1")
    assert not may(who, "config set x y") and not may(who, "select 0")
    assert may(user(b"+config", b"-config|set"), "config get x")
    assert not may(user(b"+config", b"-config|set"), "config set x y")


def test_logging_in_needs_no_right():
    assert all(may(user(), line) for line in ("auth x", "hello 3", "quit", "reset"))


def test_reading_and_writing_are_different_rights():
    who = user(b"+@all", b"%R~r", b"%W~w")
    assert may(who, "get r") and not may(who, "get w")
    assert may(who, "set w x") and not may(who, "set r x")
    assert not may(who, "set w x get") and not may(who, "getset w x")
    assert may(who, "copy r w") and not may(who, "copy w r")
    assert may(who, "exists w") and may(who, "exists r"), "any right will do"


def test_rights_of_two_patterns_do_not_add_up():
    assert not may(user(b"+@all", b"%R~a*", b"%W~*b"), "getset ab x")


def test_one_selector_must_allow_the_whole_command():
    who = user(b"+get", b"~a", b"(+mget ~b)")
    assert may(who, "get a") and may(who, "mget b")
    assert not may(who, "get b") and not may(who, "mget a b") and not may(who, "mget a")


def test_the_denial_tells_how_far_the_best_selector_has_got():
    who = user(b"+get", b"(+mget ~a)")
    row = TABLE.named(b"mget")
    assert row is not None
    denial = who.denial(row, [b"MGET", b"a", b"b"])
    assert denial is not None
    assert denial.in_detail(b"ann") == "User ann has no permissions to access the 'b' key"


def test_channels_match_patterns_but_patterns_must_be_given_word_for_word():
    who = user(b"+@all", b"&news:*")
    assert may(who, "publish news:1 x") and may(who, "subscribe news:1 news:2")
    assert may(who, "psubscribe news:*") and not may(who, "psubscribe news:1")
    assert not may(who, "subscribe news:1 mail") and not may(who, "ssubscribe mail")
    assert may(who, "unsubscribe mail") and may(who, "punsubscribe *")


def test_bitfield_that_only_gets_needs_no_right_to_write():
    who = user(b"+@all", b"%R~k")
    assert may(who, "bitfield k get u8 0") and not may(who, "bitfield k set u8 0 1")
    assert may(who, "bitfield_ro k get u8 0")


def test_a_group_or_consumer_called_streams_hides_no_key():
    """Redis #15478: keys were looked for after the first STREAMS, wherever it stood."""
    who = user(b"+@all", b"~mine")
    assert may(who, "xreadgroup group streams streams streams mine >")
    assert not may(who, "xreadgroup group streams c streams yours >")
    assert not may(who, "xreadgroup group g streams streams yours >")
    assert not may(who, "xreadgroup group g streams count 1 streams mine yours > >")


def test_the_keys_of_odd_commands_are_found():
    who = user(b"+@all", b"~mine")
    assert not may(who, "georadius mine 0 0 1 km store yours")
    assert not may(who, "sort mine store yours")
    assert not may(who, "migrate 127.0.0.1 1 yours 0 1")
    assert not may(who, "migrate 127.0.0.1 1  0 1 keys mine yours")
    assert not may(who, "zunionstore mine 2 mine yours")
    assert not may(who, "lmpop 2 mine yours left")
    assert not may(who, "rename mine yours")
