"""MEMORY DOCTOR: what the figures say, in words, and what may be done about it."""

from __future__ import annotations

from server.observe.memory import human

LITTLE = 5 * 1024 * 1024  # bytes: below this the figures say nothing
NEAR = 0.9  # of maxmemory
PEAK = 1.5  # times what is in use now
SPARE = 1.4  # times what is in use: what the process holds
SPARE_BYTES = 100 * 1024 * 1024  # besides what the interpreter itself takes
CLIENT_BYTES = 200 * 1024  # each, on average

EMPTY = "Less than {little} is in use: there is nothing to say about so little.\n"
WELL = "No problem found: {used} are in use, and the process holds {resident}.\n"


def report(used: int, peak: int, resident: int, limit: int, client_bytes: int, clients: int) -> str:
    """The report, for people. All numbers but the last are bytes; *limit* 0 is none."""
    if used < LITTLE:
        return EMPTY.format(little=human(LITTLE))
    advice = []
    if limit and used > limit * NEAR:
        advice.append(
            f"{human(used)} of maxmemory's {human(limit)} are in use: writes may soon be refused,"
            " or keys evicted. Raise maxmemory, or store less."
        )
    if peak > used * PEAK:
        advice.append(
            f"At the peak {human(peak)} were in use, now {human(used)}. What was freed may not go"
            " back to the system at once; it is used again first."
        )
    if resident > used * SPARE and resident - used > SPARE_BYTES:
        advice.append(
            f"The process holds {human(resident)} for {human(used)} in use: pages are partly empty."
            " A restart packs them anew."
        )
    if clients and client_bytes > clients * CLIENT_BYTES:
        advice.append(
            f"The {clients} clients hold {human(client_bytes)} of requests and replies: see omem"
            " and qbuf in CLIENT LIST, and client-output-buffer-limit."
        )
    if not advice:
        return WELL.format(used=human(used), resident=human(resident))
    return "".join(f"- {text}\n" for text in advice)
