"""Consumer groups: their commands and policies, and what several commands do to pending entries."""
