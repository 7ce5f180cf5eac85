"""The texts of scores: Redis's forms, which read back as the same doubles."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storage.errors import Corrupt
from storage.sorted_sets import score_text


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (3.0, b"3"), (-1.0, b"-1"), (0.0, b"0"), (-0.0, b"-0"), (1.5, b"1.5"), (0.1, b"0.1"),
        (0.1 + 0.2, b"0.30000000000000004"), (1e-6, b"0.000001"), (1e-7, b"1e-7"),
        (0.00012345678, b"1.2345678e-4"), (123456.789012345, b"1.23456789012345e+5"),
        (-1234.5678, b"-1234.5678"), (17179869184.25, b"17179869184.25"), (1e21, b"1e+21"),
        (1.7976931348623157e308, b"1.7976931348623157e+308"), (5e-324, b"5e-324"),
        (2.0**62, b"4611686018427387904"), (2.0**62 + 1024, b"4611686018427389000"),
        (float("inf"), b"inf"), (-float("inf"), b"-inf"),
    ],
)  # fmt: skip
def test_scores_are_written_as_redis_writes_them(score: float, text: bytes) -> None:
    assert score_text.text_of(score) == text


def test_a_digest_has_large_whole_numbers_in_another_form() -> None:
    assert score_text.digest_text_of(2.0**62) == b"4611686018427388000"
    assert score_text.digest_text_of(3.0) == b"3"
    assert score_text.digest_text_of(0.0) == b"0"
    assert score_text.digest_text_of(-0.0) == b"-0"


@example(-0.0)
@given(st.floats(allow_nan=False))
def test_every_text_reads_back_as_the_same_score(score: float) -> None:
    for text in (score_text.text_of(score), score_text.digest_text_of(score)):
        assert score_text.score_of(text) == score
        assert str(score_text.score_of(text)) == str(score)


@pytest.mark.parametrize("text", [b"", b"abc", b"nan", b"-nan", b"1x"])
def test_what_is_no_number_is_refused(text: bytes) -> None:
    with pytest.raises(Corrupt, match="no number"):
        score_text.score_of(text)
