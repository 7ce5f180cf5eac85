"""LOLWUT's drawing, and what ends it."""

from __future__ import annotations

from server.commands.admin.penstock_drawing import MOST_HEAD, draw


def test_it_ends_with_the_version_as_redis_does(server):
    for words in ("LOLWUT", "LOLWUT VERSION 5", "LOLWUT VERSION", "LOLWUT 3 7"):
        assert server.send_line(words).endswith(b", Redis ver. 8.6.3\n")
    assert server.send_line("LOLWUT VERSION x") == ("-ERR value is not an integer or out of range")


def test_resp3_clients_get_verbatim_text(server):
    server.owner.client.speak(3)
    assert server.owner.raw("LOLWUT").startswith(b"=")


def test_the_water_stands_as_high_as_it_is_asked_to():
    assert draw(7, 5, 0.0).count("~" * 14) == 7
    assert draw(10**9, 5, 0.0) == draw(MOST_HEAD, 5, 0.0)
    assert draw(-5, 5, 0.0).count("~" * 14) == 2


def test_a_gate_that_is_shut_lets_no_water_through():
    shut, open_ = draw(2, 0, 0.0).split("\n"), draw(2, 10, 0.0).split("\n")
    assert shut[1] == "~" * 14 + "##\\"
    assert open_[1] == "~" * 14 + "[]\\"
    assert not any("~" in line for line in shut[2:])
    assert open_[2].endswith("\\~~\\")
    assert open_[-2].endswith("~" * 9)


def test_the_wheel_turns():
    assert draw(4, 6, 0.0) != draw(4, 6, 0.08)
    assert draw(4, 6, 0.0) == draw(4, 6, 1.0)
