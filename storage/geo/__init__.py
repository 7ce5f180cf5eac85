"""Places on the earth as scores of sorted sets, and the search for those in an area."""
