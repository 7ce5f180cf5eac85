"""The projects of others are run by pytests of their own, see test_projects.py."""

collect_ignore = ["projects"]
