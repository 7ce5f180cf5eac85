"""For manage.py test: a server for the run, and the cache is in it."""

from django.test.runner import DiscoverRunner
from django.test.utils import override_settings

from penstock.testing import PenstockServer


class Runner(DiscoverRunner):
    def setup_test_environment(self, **kwargs):
        super().setup_test_environment(**kwargs)
        self.server = PenstockServer().start()
        backend = "django.core.cache.backends.redis.RedisCache"
        caches = {"default": {"BACKEND": backend, "LOCATION": self.server.url}}
        self.settings = override_settings(CACHES=caches)
        self.settings.enable()

    def teardown_test_environment(self, **kwargs):
        self.settings.disable()
        self.server.stop()
        super().teardown_test_environment(**kwargs)
