"""The site's cache and sessions."""

import pytest
from django.contrib.sessions.backends.cache import SessionStore
from django.core.cache import cache


@pytest.mark.parametrize("number", range(3))
def test_the_cache_is_empty_at_first(number):
    assert cache.get("page") is None
    cache.set("page", "<html>", timeout=300)
    assert cache.get("page") == "<html>"


def test_a_cached_page_expires(penstock):
    cache.set("page", "<html>", timeout=300)
    penstock.travel(minutes=5)
    assert cache.get("page") is None


def test_a_session():
    session = SessionStore()
    session["user"] = 7
    session.save()
    assert SessionStore(session.session_key)["user"] == 7
