# cython: boundscheck=False, wraparound=False
"""A place in the order of a sorted set: some members are before it, and all others are not.

    score  member       before it is ...
    2.5    None         every lower score; and 2.5 itself if *after*
    None   b"m"         every member that is less than b"m"; and b"m" itself if *after*
    2.5    b"m"         every lower score; of this score, as above
    None   None         nothing; everything if *after*

All ranges are made of two such places: ``(1 5`` is from after 1 to after 5.
"""

from __future__ import annotations

from storage.sorted_sets import score_octets


class Bound:
    """A place in the order, by score, by member or by both."""

    __slots__ = ("after", "by_score", "member", "score")

    def __init__(self, score: float | None, member: bytes | None, after: bool) -> None:
        self.by_score = score is not None
        self.score = 0.0 if score is None else score
        self.member = member
        self.after = after

    def is_behind(self, marks: bytearray, data: bytearray, at: int) -> bool:
        """Whether the member number *at* of the leaf with these *marks* and *data* is before it."""
        if self.by_score:
            score = score_octets.score_at(marks, at)
            if score != self.score:
                return score < self.score
        if self.member is not None:
            order = score_octets.order(data, score_octets.place_at(marks, at), self.member)
            if order != 0:
                return order < 0
        return self.after


# Made this way, a bound costs a fifth of the time.


def at_score(score: float, after: bool) -> Bound:
    """The place before *score*, or *after* it."""
    made = at_member(None, after)
    made.by_score = True
    made.score = score
    return made


def at_member(member: bytes | None, after: bool) -> Bound:
    """The place before *member*, or *after* it; None: before or after everything."""
    made = Bound.__new__(Bound)
    made.by_score = False
    made.score = 0.0
    made.member = member
    made.after = after
    return made


def at_both(score: float, member: bytes, after: bool) -> Bound:
    """The place before *member* among those of that score, or *after* it."""
    made = at_member(member, after)
    made.by_score = True
    made.score = score
    return made
