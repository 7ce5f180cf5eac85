"""Facts of what was refused to users."""

from __future__ import annotations

from server.observe.fact import COUNT, Facts, counter
from server.parts.access.access import Access
from server.users import denial

DENIED = Facts[Access](
    counter("acl_access_denied_auth", COUNT, lambda access: access.denied[denial.AUTH],
            "Attempts to log in that were refused"),
    counter("acl_access_denied_cmd", COUNT, lambda access: access.denied[denial.COMMAND],
            "Commands that were refused to who may not run them"),
    counter("acl_access_denied_key", COUNT, lambda access: access.denied[denial.KEY],
            "Commands that were refused for their keys"),
    counter("acl_access_denied_channel", COUNT, lambda access: access.denied[denial.CHANNEL],
            "Commands that were refused for their channels"),
)  # fmt: skip
