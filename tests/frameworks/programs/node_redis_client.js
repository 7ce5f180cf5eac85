// node-redis: every type, transactions, pub/sub, in RESP2 and RESP3.
const assert = require("node:assert");
const { createClient } = require("redis");

async function check(url, RESP) {
  const client = await createClient({ url, RESP }).connect();
  await client.flushAll();
  assert.equal(await client.set("a", "1", { EX: 60 }), "OK");
  await client.hSet("h", { x: "1", y: "2" });
  assert.deepEqual({ ...(await client.hGetAll("h")) }, { x: "1", y: "2" });
  await client.zAdd("z", [{ score: 1, value: "a" }, { score: 2.5, value: "b" }]);
  assert.deepEqual(await client.zRangeWithScores("z", 0, -1), [
    { value: "a", score: 1 },
    { value: "b", score: 2.5 },
  ]);
  await client.sAdd("s", ["a", "b"]);
  assert.equal(await client.sCard("s"), 2);
  const [raised, read] = await client.multi().incr("n").get("n").exec();
  assert.equal(raised, 1);
  assert.equal(read, "1");
  const id = await client.xAdd("x", "*", { f: "v" });
  assert.equal((await client.xRange("x", "-", "+"))[0].id, id);
  const subscriber = await client.duplicate().connect();
  const message = new Promise((resolve) => subscriber.subscribe("news", resolve).then(
    () => client.publish("news", "hello")));
  assert.equal(await message, "hello");
  await subscriber.unsubscribe("news");
  await subscriber.close();
  await client.close();
  console.log(`every type, transactions and messages in RESP${RESP}`);
}

async function main(url) {
  await check(url, 2);
  await check(url, 3);
}

main(process.argv[2]);
