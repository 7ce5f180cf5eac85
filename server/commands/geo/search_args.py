"""What a search asks for: the area, how many places, in which order, and what of each.

GEORADIUS          key longitude latitude radius unit   options
GEORADIUSBYMEMBER  key member radius unit               options
GEOSEARCH          key                                  options, and the area is among them
GEOSEARCHSTORE     destination key                      the same
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.commands.geo import geo_args
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from storage.geo import geohash
from storage.geo.area import Area
from storage.geo.place_order import ASCENDING, DESCENDING, UNSORTED
from storage.sorted_sets.sorted_set import SortedSet

NO_SUCH_MEMBER = ErrorReply("ERR", "could not decode requested zset member")
COUNT_NOT_POSITIVE = ErrorReply("ERR", "COUNT must be > 0")
ANY_WITHOUT_COUNT = ErrorReply("ERR", "the ANY argument requires COUNT argument")
ONLY_STORED = "is not compatible with WITHDIST, WITHHASH and WITHCOORD options"

NOWHERE, AROUND_PLACE, AROUND_MEMBER = 0, 1, 2
NO_SHAPE, CIRCLE, BOX = 0, 1, 2
NO_STORE, WITH_STORE, IS_STORE = 0, 1, 2  # STORE is not an option, is one, is what the command does


class SearchArgs:
    """The arguments, and the sorted set that is searched, which is looked up first."""

    __slots__ = (
        "_any", "_centre", "_count", "_half_height", "_half_width", "_latitude", "_longitude",
        "_order", "_shape", "_storing", "_unit", "has_details", "stores_distances", "target",
        "values", "with_coordinates", "with_distance", "with_hash",
    )  # fmt: skip

    def __init__(self, call: Call, key: bytes, storing: int) -> None:
        """Raises WrongType."""
        self.values: SortedSet | None = call.db.read(key, SortedSet)
        self.target: bytes | None = None  # the key at which the places are stored
        self.stores_distances = False
        self.with_distance = self.with_hash = self.with_coordinates = False
        self.has_details = False  # any of these three
        self._storing = storing
        self._any = False
        self._count = 0  # 0: all
        self._order = UNSORTED
        self._centre = NOWHERE
        self._shape = NO_SHAPE
        self._longitude = self._latitude = 0.0
        self._half_width = self._half_height = 0.0  # in units
        self._unit = 1.0

    # ------------------------------------------------------------------ the area

    def take_place(self, args: Args) -> None:
        """Take the longitude and latitude of the centre."""
        self._longitude, self._latitude = geo_args.take_place(args)
        self._centre = AROUND_PLACE

    def take_member(self, args: Args) -> None:
        """Take the member that is the centre. Raises NO_SUCH_MEMBER, if there is a sorted set."""
        member = args.take()
        self._centre = AROUND_MEMBER
        if self.values is None:
            return
        score = self.values.score_of(member)
        if score is None:
            raise NO_SUCH_MEMBER
        self._longitude, self._latitude = geohash.longitude_of(score), geohash.latitude_of(score)

    def take_radius(self, args: Args) -> None:
        """Take the radius of a circle and its unit."""
        radius, self._unit = geo_args.take_radius(args)
        self._half_width = self._half_height = radius
        self._shape = CIRCLE

    def take_box(self, args: Args) -> None:
        """Take the sides of a box and their unit."""
        width, height, self._unit = geo_args.take_box(args)
        self._half_width, self._half_height = width / 2, height / 2
        self._shape = BOX

    def area(self) -> Area:
        """The area, once all arguments are taken."""
        return Area(
            self._longitude,
            self._latitude,
            self._half_width,
            self._half_height,
            self._unit,
            self._shape == BOX,
        )

    # ------------------------------------------------------------------ options

    def take_options(self, args: Args, with_area: bool) -> None:
        """Take all that is left; *with_area*: the centre and the shape are there, too."""
        while args.left():
            if not (
                self._take_detail(args)
                or self._take_choice(args)
                or self._take_store(args)
                or (with_area and self._take_area(args))
            ):
                raise errors.SYNTAX
        self._check(args.argv[0], with_area)

    def _take_detail(self, args: Args) -> bool:
        """Take what is asked of each place."""
        if args.skip(b"WITHDIST"):
            self.with_distance = True
        elif args.skip(b"WITHHASH"):
            self.with_hash = True
        elif args.skip(b"WITHCOORD"):
            self.with_coordinates = True
        else:
            return False
        self.has_details = True
        return True

    def _take_choice(self, args: Args) -> bool:
        """Take how many places are asked for, and in which order."""
        if args.skip(b"ANY"):
            self._any = True
        elif args.skip(b"ASC"):
            self._order = ASCENDING
        elif args.skip(b"DESC"):
            self._order = DESCENDING
        elif args.left() > 1 and args.skip(b"COUNT"):
            self._count = args.take_int()
            if self._count <= 0:
                raise COUNT_NOT_POSITIVE
        else:
            return False
        return True

    def _take_store(self, args: Args) -> bool:
        """Take where and how the places are stored; the last one counts."""
        if self._storing == IS_STORE and args.skip(b"STOREDIST"):
            self.stores_distances = True
        elif self._storing == WITH_STORE and args.left() > 1 and args.skip(b"STORE"):
            self.target = args.take()
            self.stores_distances = False
        elif self._storing == WITH_STORE and args.left() > 1 and args.skip(b"STOREDIST"):
            self.target = args.take()
            self.stores_distances = True
        else:
            return False
        return True

    def _take_area(self, args: Args) -> bool:
        """Take the centre or the shape; one kind of each is possible, and the last one counts."""
        if self._centre != AROUND_PLACE and args.left() > 1 and args.skip(b"FROMMEMBER"):
            self.take_member(args)
        elif self._centre != AROUND_MEMBER and args.left() > 2 and args.skip(b"FROMLONLAT"):
            self.take_place(args)
        elif self._shape != BOX and args.left() > 2 and args.skip(b"BYRADIUS"):
            self.take_radius(args)
        elif self._shape != CIRCLE and args.left() > 3 and args.skip(b"BYBOX"):
            self.take_box(args)
        else:
            return False
        return True

    def _check(self, name: bytes, with_area: bool) -> None:
        """Raise an error if something is missing, or does not go together."""
        if self.has_details and self.target is not None:
            what = "GEOSEARCHSTORE" if with_area else "STORE option in GEORADIUS"
            raise ErrorReply("ERR", f"{what} {ONLY_STORED}")
        if with_area and self._centre == NOWHERE:
            raise _one_of("FROMMEMBER or FROMLONLAT", name)
        if with_area and self._shape == NO_SHAPE:
            raise _one_of("BYRADIUS and BYBOX", name)
        if self._any and not self._count:
            raise ANY_WITHOUT_COUNT

    # ------------------------------------------------------------------ how many, in which order

    def most(self) -> int:
        """After how many places the search ends, if ANY makes it; 0: when all are found."""
        return self._count if self._any else 0

    def chosen(self, found: int) -> int:
        """How many of the places that were *found* are asked for."""
        return min(found, self._count) if self._count else found

    def order(self) -> int:
        """ASCENDING, DESCENDING, or UNSORTED. The nearest come first if only some are asked for."""
        if self._order == UNSORTED and self._count and not self._any:
            return ASCENDING
        return self._order


def _one_of(words: str, name: bytes) -> ErrorReply:
    return ErrorReply("ERR", f"exactly one of {words} can be specified for {name.decode()}")


# ---------------------------------------------------------------------- the commands


def of_radius(call: Call, may_store: bool) -> SearchArgs:
    """The arguments of GEORADIUS; with *may_store* it has STORE and STOREDIST."""
    made = SearchArgs(call, call.argv[1], WITH_STORE if may_store else NO_STORE)
    args = Args(call.argv, 2)
    made.take_place(args)
    made.take_radius(args)
    made.take_options(args, False)
    return made


def of_radius_by_member(call: Call, may_store: bool) -> SearchArgs:
    """The arguments of GEORADIUSBYMEMBER. Without a sorted set, the radius is not checked."""
    made = SearchArgs(call, call.argv[1], WITH_STORE if may_store else NO_STORE)
    args = Args(call.argv, 2)
    made.take_member(args)
    if made.values is None:
        args.at += 2
    else:
        made.take_radius(args)
    made.take_options(args, False)
    return made


def of_search(call: Call) -> SearchArgs:
    """The arguments of GEOSEARCH."""
    made = SearchArgs(call, call.argv[1], NO_STORE)
    made.take_options(Args(call.argv, 2), True)
    return made


def of_search_store(call: Call) -> SearchArgs:
    """The arguments of GEOSEARCHSTORE."""
    made = SearchArgs(call, call.argv[2], IS_STORE)
    made.target = call.argv[1]
    made.take_options(Args(call.argv, 3), True)
    return made
