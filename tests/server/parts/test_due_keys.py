"""DueKeys compared with a dict."""

from __future__ import annotations

import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from server.parts.due_keys import NEVER, DueKeys
from tests.worth import rounds

keys = st.sampled_from([b"a", b"b", b"c", b"d"])
times = st.one_of(st.integers(0, 50), st.just(NEVER))
puts = st.tuples(st.just("put"), keys, times)
steps = st.one_of(
    puts,
    puts,
    st.tuples(st.just("discard"), keys),
    st.tuples(st.just("take_due"), st.integers(0, 50), st.integers(0, 4)),
    st.tuples(st.just("put_first"), keys, times),
    st.tuples(st.just("take_all")),
)


@settings(max_examples=rounds(200), deadline=None)
@given(st.lists(steps, max_size=60))
def test_they_are_as_a_dict_says(tried):
    due = DueKeys()
    model: dict[bytes, int] = {}
    for name, *arguments in tried:
        found = getattr(due, name)(*arguments)
        if name == "put":
            model[arguments[0]] = arguments[1]
        elif name == "discard":
            model.pop(arguments[0], None)
        elif name == "take_due":
            now_ms, most = arguments
            times = sorted(at_ms for at_ms in model.values() if at_ms <= now_ms)
            assert [model.pop(key) for key in found] == times[:most]
        elif name == "take_all":
            assert sorted(found) == sorted(model)
            model.clear()
        else:
            model[arguments[0]] = min(arguments[1], model.get(arguments[0], NEVER))
        assert len(due) == len(model)
        assert due.first_ms() == min(model.values(), default=NEVER)


def test_what_is_stale_is_dropped():
    due = DueKeys()
    before = sys.getallocatedblocks()
    for at_ms in range(10_000):
        due.put(b"a", at_ms)
    assert sys.getallocatedblocks() - before < 1000
