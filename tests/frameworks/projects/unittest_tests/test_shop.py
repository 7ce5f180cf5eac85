"""unittest, without pytest."""

import unittest

from penstock.testing import PenstockServer


class ShopTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(PenstockServer())

    def setUp(self):
        self.addCleanup(self.server.reset)
        self.client = self.enterContext(self.server.client())

    def test_one(self):
        self.assertEqual(self.client.incr("n"), 1)

    def test_two(self):
        self.assertEqual(self.client.incr("n"), 1)

    def test_time(self):
        self.client.set("session", "x", ex=60)
        self.server.travel(minutes=1)
        self.assertIsNone(self.client.get("session"))


class AsyncShopTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.server = self.enterContext(PenstockServer())
        self.client = await self.enterAsyncContext(self.server.async_client())

    async def test_one(self):
        self.assertEqual(await self.client.incr("n"), 1)


if __name__ == "__main__":
    unittest.main()
