// node-redis: scripts and functions of its own commands, in RESP2 and RESP3.
const assert = require("node:assert");
const { createClient, defineScript } = require("redis");

const LIBRARY = `#!lua name=shop
local function sell(keys, args)
  return redis.call('HINCRBY', keys[1], 'left', -args[1])
end
redis.register_function('sell', sell)
`;

const raise = defineScript({
  SCRIPT: "return redis.call('INCRBY', KEYS[1], ARGV[1])",
  NUMBER_OF_KEYS: 1,
  parseCommand(parser, key, by) {
    parser.pushKey(key);
    parser.push(by.toString());
  },
  transformReply: undefined,
});

const sell = {
  NUMBER_OF_KEYS: 1,
  parseCommand(parser, key, count) {
    parser.pushKey(key);
    parser.push(count.toString());
  },
  transformReply: undefined,
};

async function check(url, RESP) {
  const options = { url, RESP, scripts: { raise }, functions: { shop: { sell } } };
  const client = await createClient(options).connect();
  await client.flushAll();
  await client.scriptFlush();
  assert.equal(await client.raise("n", 2), 2);  // by EVAL, after NOSCRIPT
  assert.equal(await client.raise("n", 3), 5);  // by EVALSHA
  assert.deepEqual(await client.multi().raise("n", 1).raise("n", 1).exec(), [6, 7]);
  const refuse = { keys: [], arguments: ["as was asked for"] };
  const refusal = client.eval("return redis.error_reply('ERR ' .. ARGV[1])", refuse);
  await assert.rejects(refusal, /as was asked for/);
  console.log(`scripts in RESP${RESP}`);
  await client.functionFlush();
  assert.equal(await client.functionLoad(LIBRARY), "shop");
  await client.hSet("tea", "left", 5);
  assert.equal(await client.shop.sell("tea", 2), 3);
  assert.equal((await client.functionList())[0].library_name, "shop");
  await client.functionFlush();
  await client.close();
  console.log(`functions in RESP${RESP}`);
}

async function main(url) {
  await check(url, 2);
  await check(url, 3);
}

main(process.argv[2]);
