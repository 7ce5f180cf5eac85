"""Looks into the files that data is kept in: are they whole, and what do they hold?"""
