"""django-redis and Django's own Redis cache: values, time-outs, keys by pattern, sessions."""

from __future__ import annotations

import sys

import django
from django.conf import settings


def check(cache) -> None:
    cache.set("a", {"x": [1, 2]}, timeout=60)
    assert cache.get("a") == {"x": [1, 2]}
    assert cache.add("a", 1) is False
    assert cache.add("b", 1, timeout=None) is True
    cache.set_many({"c": 1, "d": 2})
    assert cache.get_many(["c", "d", "e"]) == {"c": 1, "d": 2}
    assert cache.touch("c", 100)
    assert cache.has_key("d")
    cache.delete_many(["c", "d"])
    assert cache.get("c", "gone") == "gone"
    assert cache.get_or_set("f", lambda: 7) == 7
    cache.clear()
    assert cache.get("f") is None


def main(url: str) -> None:
    settings.configure(
        CACHES={
            "default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": url},
            "own": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": url},
        },
        SESSION_ENGINE="django.contrib.sessions.backends.cache",
    )
    django.setup()
    from django.core.cache import caches  # noqa: PLC0415  (needs the settings)

    for name in ("default", "own"):
        check(caches[name])
        print(f"the cache {name!r} keeps values and time-outs")
    cache = caches["default"]
    cache.set("user:1", 1, timeout=50)
    cache.set("user:2", 2, timeout=None)
    assert 0 < cache.ttl("user:1") <= 50
    assert cache.ttl("user:2") is None
    assert sorted(cache.iter_keys("user:*")) == ["user:1", "user:2"]
    assert cache.persist("user:1")
    assert cache.delete_pattern("user:*") == 2
    print("keys are found and deleted by pattern")
    from django.contrib.sessions.backends.cache import SessionStore  # noqa: PLC0415

    session = SessionStore()
    session["name"] = "x"
    session.save()
    assert SessionStore(session.session_key)["name"] == "x"
    session.delete()
    print("a session is kept")
    cache.clear()


if __name__ == "__main__":
    main(sys.argv[1])
