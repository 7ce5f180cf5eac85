"""notify-keyspace-events: letters to classes, and back."""

from __future__ import annotations

import pytest

from server.config.event_classes import ALL, EVENT_CLASSES, NO_EVENTS, EventClass
from server.config.parameter import BadValue


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("KEA", "AKE"),
        ("Kx", "xK"),
        ("mEn$", "$nEm"),
        ("dtexzhsl$g", "A"),
        ("KEg$lshzxet", "g$lshzxetKE"),
        ("KEAn", "AKE"),  # as in Redis, which forgets the n here
    ],
)
def test_letters_are_shown_in_redis_order(text: str, shown: str) -> None:
    assert EVENT_CLASSES.show(EVENT_CLASSES.parse(text, NO_EVENTS)) == shown


@pytest.mark.parametrize("text", ["", "KEA", "KEAmn", "xE", "n$K"])
def test_what_is_written_to_redis_conf_means_the_same(text: str) -> None:
    classes = EVENT_CLASSES.parse(text, NO_EVENTS)
    (line,) = EVENT_CLASSES.lines(classes)
    assert EVENT_CLASSES.parse(line.strip('"'), NO_EVENTS) == classes


def test_a_stands_for_all_but_misses_and_new_keys() -> None:
    assert EventClass.KEY_MISS & ALL == EventClass.NEW & ALL == NO_EVENTS
    assert ALL & EventClass.MODULE


def test_another_letter_is_refused() -> None:
    with pytest.raises(BadValue, match="Invalid event class character"):
        EVENT_CLASSES.parse("KEq", NO_EVENTS)
