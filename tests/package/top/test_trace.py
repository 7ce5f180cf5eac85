"""traceparent: what W3C Trace Context allows, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.top.trace import Trace, trace_of

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def test_a_trace_is_read() -> None:
    fields = {b"item": b"tea", b"traceparent": f"00-{TRACE}-{SPAN}-01".encode()}
    assert trace_of(fields) == Trace(TRACE, SPAN, is_sampled=True)
    assert trace_of({b"traceparent": f"00-{TRACE}-{SPAN}-00".encode()}) == Trace(TRACE, SPAN, False)


def test_a_later_version_may_have_more() -> None:
    later = f"01-{TRACE}-{SPAN}-03-more".encode()
    assert trace_of({b"traceparent": later}) == Trace(TRACE, SPAN, is_sampled=True)


@pytest.mark.parametrize(
    "value",
    [
        "",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE[1:]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01\n",
    ],
)
def test_what_is_none_is_none(value: str) -> None:
    assert trace_of({b"traceparent": value.encode()}) is None


@given(st.binary(max_size=80))
def test_no_value_is_a_fault(value: bytes) -> None:
    trace_of({b"traceparent": value})
