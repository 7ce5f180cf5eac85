"""django-redis and Django's own Redis cache: counters, which the first raises in a script."""

from __future__ import annotations

import sys

from django.conf import settings


def main(url: str) -> None:
    settings.configure(
        CACHES={
            "default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": url},
            "own": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": url},
        },
    )
    from django.core.cache import caches  # noqa: PLC0415  (needs the settings)

    for name in ("own", "default"):
        cache = caches[name]
        cache.set("n", 1, timeout=60)
        assert cache.incr("n", 4) == 5
        assert cache.decr("n") == 4
        cache.clear()
        print(f"the cache {name!r} counts")


if __name__ == "__main__":
    main(sys.argv[1])
