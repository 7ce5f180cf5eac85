"""How one client has its keys tracked: what it has chosen by CLIENT TRACKING."""

from __future__ import annotations

from server.client.disjoint_prefixes import NO_PREFIXES, DisjointPrefixes


class TrackingOptions:
    """The options of one client. All fields but the last two are what it has sent.

    broadcasts   BCAST: it is told of all keys that begin with one of *prefixes*
    opts_in      OPTIN: only reads after CLIENT CACHING YES are tracked
    opts_out     OPTOUT: reads after CLIENT CACHING NO are not tracked
    no_loop      NOLOOP: it is not told of its own changes
    redirect     the client that gets its invalidations; 0: itself
    caching      CLIENT CACHING was sent, and holds for the next command
    broken       the client that was to get its invalidations has gone
    """

    __slots__ = (
        "broadcasts",
        "broken",
        "caching",
        "no_loop",
        "opts_in",
        "opts_out",
        "prefixes",
        "redirect",
    )

    def __init__(self) -> None:
        self.broadcasts = False
        self.opts_in = False
        self.opts_out = False
        self.no_loop = False
        self.redirect = 0
        self.prefixes: DisjointPrefixes = NO_PREFIXES
        self.caching = False
        self.broken = False

    @property
    def skips_next(self) -> bool:
        """Whether what the next command reads is not tracked."""
        return self.caching if self.opts_out else self.opts_in and not self.caching


NOT_TRACKING = TrackingOptions()  # of all clients that track nothing; it stays as it is
