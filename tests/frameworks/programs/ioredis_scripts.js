// ioredis: commands that are scripts, alone, in pipelines and in transactions; functions.
const assert = require("node:assert");
const Redis = require("ioredis");

const LIBRARY = `#!lua name=shop
redis.register_function('sell', function(keys, args)
  return redis.call('HINCRBY', keys[1], 'left', -args[1])
end)
`;

async function main(url) {
  const scripts = {
    raise: { numberOfKeys: 1, lua: "return redis.call('INCRBY', KEYS[1], ARGV[1])" },
    look: { numberOfKeys: 1, lua: "return redis.call('GET', KEYS[1])", readOnly: true },
  };
  const redis = new Redis(url, { scripts, keyPrefix: "shop:" });
  await redis.flushall();
  await redis.script("FLUSH");
  assert.equal(await redis.raise("n", 2), 2);
  assert.equal(await redis.raise("n", 3), 5);
  assert.equal(await redis.look("n"), "5");
  await redis.script("FLUSH");
  assert.deepEqual(await redis.pipeline().raise("n", 1).look("n").exec(), [[null, 6], [null, "6"]]);
  assert.deepEqual(await redis.multi().raise("n", 1).look("n").exec(), [[null, 7], [null, "7"]]);
  assert.equal(await redis.get("n"), "7");
  console.log("commands that are scripts, alone, in a pipeline, in a transaction");
  redis.defineCommand("echoes", { lua: "return {KEYS[1], ARGV[1], #ARGV}" });
  assert.deepEqual(await redis.echoes(1, "k", "a", "b"), ["shop:k", "a", 2]);
  assert.deepEqual((await redis.echoesBuffer(1, "k", Buffer.from([255])))[1], Buffer.from([255]));
  redis.defineCommand("refuses", { numberOfKeys: 0, lua: "return redis.error_reply('ERR no')" });
  await assert.rejects(redis.refuses(), /ERR no/);
  console.log("lists, bytes and errors come back");
  await redis.function("FLUSH");
  assert.equal(await redis.function("LOAD", LIBRARY), "shop");
  await redis.hset("tea", "left", 5);
  assert.equal(await redis.fcall("sell", 1, "tea", 2), 3);
  await redis.function("FLUSH");
  console.log("functions");
  redis.disconnect();
}

main(process.argv[2]);
