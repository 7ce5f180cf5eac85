"""``user`` lines of redis.conf: only the default user exists, with all permissions.

CONFIG REWRITE of redis writes such a line into every file it touches:

    user default on nopass sanitize-payload ~* &* +@all
    user default on sanitize-payload #2bb80d53... ~* &* +@all      the password is requirepass's
"""

from __future__ import annotations

RIGHTS = ({"on"}, {"~*", "allkeys"}, {"&*", "allchannels"}, {"+@all", "allcommands"})
NEEDLESS = {"sanitize-payload", "alldbs"}


def is_default_user(words: list[str], password: str) -> bool:
    """Whether *words*, behind ``user``, describe the default user with requirepass *password*."""
    if words[:1] != ["default"]:
        return False
    rules = set(words[1:])
    secret = {f">{password}", f"#{_digest(password)}"} if password else {"nopass"}
    known = NEEDLESS.union(secret, *RIGHTS)
    return rules <= known and all(rules & one_of for one_of in (secret, *RIGHTS))


def _digest(password: str) -> str:
    from hashlib import sha256  # noqa: PLC0415  (few starts need it, and it takes its time)

    return sha256(password.encode("utf-8", "surrogateescape")).hexdigest()
