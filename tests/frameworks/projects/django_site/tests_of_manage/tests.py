"""For manage.py test."""

from django.core.cache import cache
from django.test import SimpleTestCase


class CacheTest(SimpleTestCase):
    def test_the_cache(self):
        cache.set("page", "<html>")
        self.assertEqual(cache.get("page"), "<html>")
