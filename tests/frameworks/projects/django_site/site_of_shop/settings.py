"""Settings of a small site."""

SECRET_KEY = "for tests"
USE_TZ = True
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": "redis://production.invalid:6379",
    }
}
TEST_RUNNER = "site_of_shop.runner.Runner"
SESSION_ENGINE = "django.contrib.sessions.backends.cache"
