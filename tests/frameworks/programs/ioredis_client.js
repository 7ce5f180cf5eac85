// ioredis: every type, pipelines, transactions, pub/sub, a stream's consumer group, blocking.
const assert = require("node:assert");
const Redis = require("ioredis");

async function main(url) {
  const redis = new Redis(url);
  await redis.flushall();
  assert.equal(await redis.set("a", "1", "EX", 60), "OK");
  await redis.hset("h", { x: 1, y: 2 });
  assert.deepEqual(await redis.hgetall("h"), { x: "1", y: "2" });
  await redis.zadd("z", 1, "a", 2, "b");
  assert.deepEqual(await redis.zrange("z", 0, -1, "WITHSCORES"), ["a", "1", "b", "2"]);
  await redis.sadd("s", "a", "b");
  assert.equal(await redis.scard("s"), 2);
  console.log("values of every type");
  assert.deepEqual(await redis.pipeline().incr("n").incr("n").exec(), [[null, 1], [null, 2]]);
  assert.deepEqual(await redis.multi().incr("n").get("n").exec(), [[null, 3], [null, "3"]]);
  console.log("pipelines and transactions");
  const subscriber = redis.duplicate();
  const message = new Promise((resolve) => subscriber.once("message", (_, text) => resolve(text)));
  await subscriber.subscribe("news");
  assert.equal(await redis.publish("news", "hello"), 1);
  assert.equal(await message, "hello");
  console.log("messages through a channel");
  const waiting = redis.duplicate();
  const popped = waiting.blpop("l", 20);
  await redis.rpush("l", "x");
  assert.deepEqual(await popped, ["l", "x"]);
  await redis.xgroup("CREATE", "x", "g", "$", "MKSTREAM");
  const id = await redis.xadd("x", "*", "f", "v");
  const read = await redis.xreadgroup("GROUP", "g", "c", "COUNT", 1, "STREAMS", "x", ">");
  assert.deepEqual(read, [["x", [[id, ["f", "v"]]]]]);
  assert.equal(await redis.xack("x", "g", id), 1);
  console.log("a blocked client and a consumer group");
  const found = [];
  for await (const keys of redis.scanStream({ count: 2 })) found.push(...keys);
  assert.equal(new Set(found).size, await redis.dbsize());
  console.log("a scan as a stream");
  for (const client of [redis, subscriber, waiting]) client.disconnect();
}

main(process.argv[2]);
