"""pytest-django: every test has an empty cache."""

import pytest


@pytest.fixture(autouse=True)
def cache_in_penstock(settings, penstock_url):
    backend = "django.core.cache.backends.redis.RedisCache"
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": penstock_url}}
