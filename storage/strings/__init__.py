"""Strings: kept as Python's own objects; see storage/strings/value_type.py for which."""
