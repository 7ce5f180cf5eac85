"""LMOVEM and BLMOVEM, as redis 8.10 answers them: no server that is compared knows them."""

from __future__ import annotations

import pytest

from tests.server.conftest import NOTHING

SYNTAX = "-ERR syntax error"
COUNT = "-ERR count should be greater than 0"


def elements(text):
    return [word.encode() for word in text.split()]


def lists(server):
    return [server.send_line(f"LRANGE {key} 0 -1") for key in ("src", "dst")]


@pytest.mark.parametrize(
    ("words", "moved", "left", "there"),
    [
        ("LEFT LEFT", "a", "b c d", "a x y"),
        ("RIGHT LEFT", "d", "a b c", "d x y"),
        ("LEFT LEFT COUNT 1 OBO", "a", "b c d", "a x y"),
        ("LEFT LEFT COUNT 2 OBO", "b a", "c d", "b a x y"),
        ("LEFT LEFT COUNT 2 BULK", "a b", "c d", "a b x y"),
        ("LEFT RIGHT COUNT 2 OBO", "a b", "c d", "x y a b"),
        ("LEFT RIGHT COUNT 2 BULK", "a b", "c d", "x y a b"),
        ("RIGHT LEFT COUNT 2 OBO", "c d", "a b", "c d x y"),
        ("RIGHT LEFT COUNT 2 BULK", "c d", "a b", "c d x y"),
        ("RIGHT RIGHT COUNT 2 OBO", "d c", "a b", "x y d c"),
        ("RIGHT RIGHT COUNT 2 BULK", "c d", "a b", "x y c d"),
        ("RIGHT RIGHT COUNT 9 BULK", "a b c d", "", "x y a b c d"),
        ("LEFT LEFT COUNT 9 OBO", "d c b a", "", "d c b a x y"),
        ("LEFT RIGHT EXACTLY 4 BULK", "a b c d", "", "x y a b c d"),
        ("left right exactly 3 obo", "a b c", "d", "x y a b c"),
    ],
)
def test_what_is_moved_is_answered_as_it_lies_there(server, words, moved, left, there):
    server.send_line("RPUSH src a b c d")
    server.send_line("RPUSH dst x y")
    assert server.send_line(f"LMOVEM src dst {words}") == elements(moved)
    assert lists(server) == [elements(left), elements(there)]
    assert server.send_line("EXISTS src") == bool(left)


@pytest.mark.parametrize("words", ["", "COUNT 9 OBO", "COUNT 9 BULK", "EXACTLY 3 BULK"])
def test_a_new_list_is_made_and_an_emptied_one_goes(server, words):
    server.send_line("RPUSH src a b c" if words else "RPUSH src a")
    assert server.send_line(f"LMOVEM src dst LEFT RIGHT {words}")
    assert server.send_line("EXISTS src") == 0
    assert server.send_line("LLEN dst") == (3 if words else 1)


def test_too_few_elements(server):
    server.send_line("RPUSH src a b")
    client = server.client()
    assert client.raw("LMOVEM", "src", "dst", "LEFT", "LEFT", "EXACTLY", 3, "OBO") == b"*-1\r\n"
    assert client.raw("LMOVEM", "no", "dst", "LEFT", "LEFT", "EXACTLY", 1, "OBO") == b"*-1\r\n"
    assert client.raw("LMOVEM", "no", "dst", "LEFT", "LEFT", "COUNT", 3, "OBO") == b"*-1\r\n"
    assert client.raw("LMOVEM", "no", "dst", "LEFT", "LEFT") == b"*-1\r\n"
    client.send("HELLO", 3)
    assert client.raw("LMOVEM", "src", "dst", "LEFT", "LEFT", "EXACTLY", 3, "OBO") == b"_\r\n"
    assert lists(server) == [[b"a", b"b"], []]


@pytest.mark.parametrize(
    ("words", "moved", "after"),
    [
        ("LEFT RIGHT COUNT 2 BULK", "a b", "c d a b"),
        ("LEFT RIGHT COUNT 2 OBO", "a b", "c d a b"),
        ("RIGHT LEFT COUNT 3 BULK", "b c d", "b c d a"),
        ("LEFT RIGHT EXACTLY 4 BULK", "a b c d", "a b c d"),
        ("LEFT LEFT COUNT 2 BULK", "a b", "a b c d"),
        ("RIGHT RIGHT COUNT 2 BULK", "c d", "a b c d"),
        ("LEFT LEFT COUNT 2 OBO", "a a", "a b c d"),
        ("RIGHT RIGHT COUNT 9 OBO", "d d d d", "a b c d"),
        ("LEFT RIGHT", "a", "b c d a"),
    ],
)
def test_within_one_list(server, words, moved, after):
    server.send_line("RPUSH src a b c d")
    server.send_line("EXPIRE src 100")
    assert server.send_line(f"LMOVEM src src {words}") == elements(moved)
    assert server.send_line("LRANGE src 0 -1") == elements(after)
    assert server.send_line("TTL src") == 100


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("LMOVEM src dst LEFT", "-ERR wrong number of arguments for 'lmovem' command"),
        ("LMOVEM src dst UP LEFT", SYNTAX),
        ("LMOVEM src dst LEFT UP", SYNTAX),
        ("LMOVEM src dst LEFT LEFT COUNT", SYNTAX),
        ("LMOVEM src dst LEFT LEFT COUNT 1", SYNTAX),
        ("LMOVEM src dst LEFT LEFT EXACTLY 1", SYNTAX),
        ("LMOVEM src dst LEFT LEFT OBO", SYNTAX),
        ("LMOVEM src dst LEFT LEFT COUNT 1 OBO BULK", SYNTAX),
        ("LMOVEM src dst LEFT LEFT COUNT 1 FOO", SYNTAX),
        ("LMOVEM src dst LEFT LEFT COUNT 1 OBO EXACTLY 1 OBO", SYNTAX),
        ("LMOVEM src dst LEFT LEFT OBO COUNT 1", SYNTAX),
        ("LMOVEM src dst LEFT LEFT COUNT 0 OBO", COUNT),
        ("LMOVEM src dst LEFT LEFT COUNT -1 OBO", COUNT),
        ("LMOVEM src dst LEFT LEFT EXACTLY x OBO", COUNT),
        ("LMOVEM src dst LEFT LEFT COUNT 9223372036854775808 OBO", COUNT),
        ("BLMOVEM src dst LEFT LEFT", "-ERR wrong number of arguments for 'blmovem' command"),
        ("BLMOVEM src dst LEFT LEFT x", "-ERR timeout is not a float or out of range"),
        ("BLMOVEM src dst LEFT LEFT -1", "-ERR timeout is negative"),
        ("BLMOVEM src dst LEFT LEFT 0 COUNT 0 OBO", COUNT),
        ("BLMOVEM src dst LEFT LEFT 0 COUNT 1", SYNTAX),
    ],
)
def test_a_refused_call_changes_nothing(server, words, answer):
    server.send_line("RPUSH src a b")
    server.logged()
    assert server.send_line(words) == answer
    assert lists(server) == [[b"a", b"b"], []]
    assert server.logged() == []


def test_the_type_of_the_target_is_tested_first(server):
    server.send_line("RPUSH src a b")
    server.send_line("SET dst v")
    assert server.send_line("LMOVEM src dst LEFT LEFT COUNT 2 OBO").startswith("-WRONGTYPE")
    assert server.send_line("BLMOVEM src dst LEFT LEFT 0").startswith("-WRONGTYPE")
    assert server.send_line("LMOVEM dst src LEFT LEFT").startswith("-WRONGTYPE")
    assert server.send_line("LLEN src") == 2
    assert server.send_line("LMOVEM no dst LEFT LEFT") is None


@pytest.mark.parametrize("block", [False, True])
@pytest.mark.parametrize(
    ("words", "logged"),
    [
        ("src dst LEFT LEFT COUNT 2 OBO", "LPUSH dst a b; LPOP src 2"),
        ("src dst LEFT LEFT COUNT 2 BULK", "LPUSH dst b a; LPOP src 2"),
        ("src dst RIGHT RIGHT EXACTLY 4 BULK", "RPUSH dst a b c d; RPOP src 4"),
        ("src dst LEFT RIGHT COUNT 9 OBO", "RPUSH dst a b c d; LPOP src 4"),
        ("src dst RIGHT LEFT COUNT 2 OBO", "LPUSH dst d c; RPOP src 2"),
        ("src src LEFT RIGHT COUNT 2 BULK", "RPUSH src a b; LPOP src 2"),
        ("src src RIGHT LEFT COUNT 3 BULK", "LPUSH src d c b; RPOP src 3"),
        ("src src LEFT LEFT COUNT 3 OBO", ""),
    ],
)
def test_it_is_logged_as_a_push_and_a_pop(make_server, words, logged, block):
    server, other = make_server(), make_server()
    for one in (server, other):
        one.send_line("RPUSH src a b c d")
        one.send_line("RPUSH dst x")
    server.logged()
    moved = words.split()
    argv = ["BLMOVEM", *moved[:4], "0", *moved[4:]] if block else ["LMOVEM", *moved]
    assert server.send(*argv)
    lines = [line.decode() for line in server.logged()]
    assert "; ".join(lines) == logged
    for line in lines:
        other.send_line(line)
    assert lists(server) == lists(other)


def test_what_is_told_of_the_keys(server):
    server.send_line("RPUSH src a b")
    server.send_line("CONFIG SET notify-keyspace-events EA")
    listener = server.client()
    listener.send("PSUBSCRIBE", "__keyevent@0__:*")
    server.send_line("LMOVEM src dst LEFT RIGHT COUNT 9 OBO")
    heard = []
    while isinstance(message := listener.reply(), list):
        heard.append((message[2].removeprefix(b"__keyevent@0__:"), message[3]))
    assert heard == [(b"rpush", b"dst"), (b"lpop", b"src"), (b"del", b"src")]


# ---------------------------------------------------------------------- waiting


def blocked(server, *words):
    client = server.client()
    assert client.send(*words) is NOTHING
    assert client.waits
    return client


def blmovem(server, *words):
    return blocked(server, "BLMOVEM", "src", "dst", "LEFT", "RIGHT", 0, *words)


def test_blmovem_waits_while_the_source_is_empty(server):
    one = blmovem(server)
    many = blmovem(server, "COUNT", 2, "BULK")
    server.send_line("RPUSH src a b c")
    assert one.reply() == [b"a"]
    assert many.reply() == [b"b", b"c"]


@pytest.mark.parametrize(
    "line",
    [
        "RPUSH src c",
        "LPUSH src c",
        "RPUSHX src c",
        "LINSERT src BEFORE a c",
        "LMOVE z src LEFT LEFT",
        "RPOPLPUSH z src",
        "LMOVEM z src LEFT LEFT COUNT 1 OBO",
        "LMOVEM z src LEFT LEFT",
        "BLMOVE z src LEFT LEFT 0",
        "SORT zz STORE src",
    ],
)
def test_what_is_added_to_a_list_wakes_who_waits_for_more(server, line):
    server.send_line("RPUSH z c")
    server.send_line("RPUSH zz 1 2 3")
    server.send_line("RPUSH src a")
    client = blmovem(server, "EXACTLY", 2, "BULK")
    server.send_line(line)
    assert len(client.reply()) == 2
    assert not client.waits
    assert not server.state.blocking.waiting_for_more


def test_what_is_not_enough_leaves_it_waiting(server):
    client = blmovem(server, "EXACTLY", 3, "BULK")
    for element in "ab":
        server.send_line(f"RPUSH src {element}")
        assert client.reply() is NOTHING
    server.send_line("LPOP src")
    server.send_line("RPUSH src c")
    assert client.reply() is NOTHING
    server.send_line("RPUSH src d e")
    assert client.reply() == [b"b", b"c", b"d"]
    assert lists(server) == [[b"e"], [b"b", b"c", b"d"]]


def test_who_waits_for_more_keeps_its_turn(server):
    first = blmovem(server, "EXACTLY", 2, "BULK")
    second = blocked(server, "BLPOP", "src", 0)
    server.send_line("RPUSH src a")
    assert first.reply() is NOTHING
    assert second.reply() == [b"src", b"a"]
    third = blocked(server, "BLPOP", "src", 0)
    server.send_line("RPUSH src b c d")
    assert first.reply() == [b"b", b"c"]
    assert third.reply() == [b"src", b"d"]


def test_several_wait_for_more_in_their_order(server):
    five = blmovem(server, "EXACTLY", 5, "BULK")
    two = blmovem(server, "EXACTLY", 2, "BULK")
    also_two = blmovem(server, "EXACTLY", 2, "BULK")
    server.send_line("RPUSH src a")
    server.send_line("RPUSH src b")
    assert five.reply() is NOTHING
    assert two.reply() == [b"a", b"b"]
    server.send_line("RPUSH src c d e f g")
    assert five.reply() == [b"c", b"d", b"e", b"f", b"g"]
    assert also_two.reply() is NOTHING
    also_two.leave()
    assert not server.state.blocking.waiting_for_more


def test_a_chain_of_those_who_wait(server):
    last = blocked(server, "BLMOVEM", "dst", "end", "LEFT", "RIGHT", 0, "EXACTLY", 2, "OBO")
    first = blmovem(server, "EXACTLY", 2, "OBO")
    server.send_line("RPUSH src a b")
    assert first.reply() == [b"a", b"b"]
    assert last.reply() == [b"a", b"b"]
    assert server.send_line("LRANGE end 0 -1") == [b"a", b"b"]


def test_it_ends_with_its_time(server):
    client = server.client()
    server.send_line("RPUSH src a")
    argv = ("BLMOVEM", "src", "dst", "LEFT", "RIGHT", "0.1", "EXACTLY", 2, "OBO")
    assert client.raw(*argv) == b""
    server.send_line("RPUSH src2 a")
    server.advance(200)
    assert client.client.out.take() == b"*-1\r\n"
    assert server.send_line("LLEN src") == 1
    assert not server.state.blocking.waiting_for_more


@pytest.mark.parametrize("words", ["0", "0 COUNT 2 OBO", "0 EXACTLY 2 OBO"])
def test_nobody_waits_in_a_transaction_or_script(server, words):
    server.send_line("MULTI")
    server.send_line(f"BLMOVEM src dst LEFT RIGHT {words}")
    assert server.send_line("EXEC") == [None]
    call = ", ".join(f"'{word}'" for word in f"BLMOVEM src dst LEFT RIGHT {words}".split())
    assert server.send("EVAL", f"return redis.call({call}) == false", 2, "src", "dst") == 1


def test_a_woken_one_finds_a_target_of_another_type(server):
    client = blmovem(server, "EXACTLY", 2, "OBO")
    server.send_line("SET dst v")
    server.send_line("RPUSH src a b")
    assert client.reply().startswith("-WRONGTYPE")
    assert server.send_line("LLEN src") == 2
