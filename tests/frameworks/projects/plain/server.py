"""A module of the project, which has nothing to do with Penstock."""

WHO = "the project's own"
