// BullMQ: jobs, priorities, delays, retries, schedulers, flows, a pause, and an emptied database.
const assert = require("node:assert");
const { once } = require("node:events");
const { FlowProducer, Queue, QueueEvents, Worker } = require("bullmq");
const Redis = require("ioredis");

const PATIENCE_MS = 20_000;

const WORK = {
  add: ({ data }) => data.left + data.right,
  named: ({ data }) => data.name,
  fails: (job) => {
    if (job.attemptsMade < job.data.times) throw new Error("as was asked for");
    return job.attemptsMade;
  },
  total: async (job) => {
    const parts = Object.values(await job.getChildrenValues());
    return parts.reduce((sum, part) => sum + part, 0);
  },
  reports: async (job) => {
    await job.log("half is done");
    await job.updateProgress(50);
    return "all";
  },
};

class Shop {
  // The queue "work" with its events, and a worker that has not started yet.
  constructor(connection) {
    this.connection = connection;
    this.queue = new Queue("work", { connection });
    this.events = new QueueEvents("work", { connection });
    this.flows = new FlowProducer({ connection });
    this.begun = [];
    const work = (job) => {
      this.begun.push(job.data.name);
      return WORK[job.name](job);
    };
    this.worker = new Worker("work", work, { connection, autorun: false });
  }

  result(job) {
    return job.waitUntilFinished(this.events, PATIENCE_MS);
  }

  async results(jobs) {
    const results = [];
    for (const job of jobs) results.push(await this.result(job));
    return results;
  }

  async run(name, data, options) {
    return this.result(await this.queue.add(name, data, options));
  }

  async close() {
    for (const part of [this.worker, this.events, this.flows, this.queue]) await part.close();
  }
}

async function checkOrder(shop) {
  const priorities = { last: 9, second: 1, third: 5, first: undefined };
  const jobs = Object.entries(priorities).map(
    ([name, priority]) => ({ name: "named", data: { name }, opts: { priority } }));
  const added = await shop.queue.addBulk(jobs);
  const counts = await shop.queue.getJobCounts("waiting", "prioritized");
  assert.deepEqual(counts, { waiting: 1, prioritized: 3 });
  shop.worker.run();
  await shop.results(added);
  assert.deepEqual(shop.begun, ["first", "second", "third", "last"]);
  console.log("jobs are done in the order of their priorities");
}

async function checkResults(shop) {
  assert.equal(await shop.run("add", { left: 2, right: 3 }), 5);
  const many = Array.from({ length: 50 }, (_, i) => ({ name: "add", data: { left: i, right: i } }));
  const added = await shop.queue.addBulk(many);
  assert.deepEqual(await shop.results(added), many.map((_, i) => 2 * i));
  console.log("results come back");
  const told = once(shop.events, "progress");
  const job = await shop.queue.add("reports", {});
  assert.equal(await shop.result(job), "all");
  assert.equal((await told)[0].data, 50);
  assert.deepEqual((await shop.queue.getJobLogs(job.id)).logs, ["half is done"]);
  console.log("a job reports its progress");
  const twice = { deduplication: { id: "only one" }, delay: 60_000 };
  const kept = await shop.queue.add("add", {}, twice);
  assert.equal((await shop.queue.add("add", {}, twice)).id, kept.id);
  await kept.remove();
  console.log("a duplicate is not added");
}

async function checkDelays(shop) {
  const delayed = await shop.queue.add("named", { name: "later" }, { delay: 150 });
  assert.equal(await shop.result(delayed), "later");
  const done = await shop.queue.getJob(delayed.id);
  assert.ok(done.processedOn - done.timestamp >= 150);
  const far = await shop.queue.add("named", { name: "far" }, { delay: 3_600_000 });
  assert.equal(await far.getState(), "delayed");
  await far.promote();
  assert.equal(await shop.result(far), "far");
  console.log("delays are kept, and ended by hand");
}

async function checkFailures(shop) {
  const backoff = { type: "exponential", delay: 20 };
  assert.equal(await shop.run("fails", { times: 2 }, { attempts: 3, backoff }), 2);
  console.log("a job is tried again, later each time");
  const failed = await shop.queue.add("fails", { times: 2 }, { attempts: 2, backoff: 10 });
  await assert.rejects(shop.result(failed), /as was asked for/);
  assert.deepEqual((await shop.queue.getFailed()).map(({ id }) => id), [failed.id]);
  await (await shop.queue.getJob(failed.id)).retry();
  assert.equal(await shop.result(failed), 2);
  assert.equal(await shop.queue.getFailedCount(), 0);
  console.log("a failed job is kept, and done when it is asked for again");
}

async function checkFlows(shop) {
  const add = (left, right) => ({ name: "add", queueName: "work", data: { left, right } });
  const total = (children) => ({ name: "total", queueName: "work", children });
  const { job } = await shop.flows.add(total([total([add(1, 2), add(3, 4)]), add(5, 6)]));
  assert.equal(await shop.result(job), 21);
  const { processed } = await job.getDependencies();
  assert.equal(Object.keys(processed).length, 2);
  console.log("a parent waits for its children and gets their results");
}

async function checkSchedulers(shop) {
  const ticks = new Promise((resolve) => {
    let left = 3;
    shop.worker.on("completed", (job) => job.data.name === "tick" && --left === 0 && resolve());
  });
  const template = { name: "named", data: { name: "tick" } };
  await shop.queue.upsertJobScheduler("clock", { every: 50 }, template);
  await ticks;
  assert.equal((await shop.queue.getJobSchedulers())[0].key, "clock");
  assert.ok(await shop.queue.removeJobScheduler("clock"));
  await shop.queue.upsertJobScheduler("nights", { pattern: "0 3 * * *" }, template);
  const { next } = await shop.queue.getJobScheduler("nights");
  assert.equal(new Date(next).getHours(), 3);
  assert.ok(await shop.queue.removeJobScheduler("nights"));
  console.log("a scheduler makes jobs until it is removed");
}

async function checkPause(shop) {
  await shop.queue.pause();
  const waiting = await shop.queue.add("named", { name: "patient" });
  assert.ok(await shop.queue.isPaused());
  assert.equal(await waiting.getState(), "waiting");
  await shop.queue.resume();
  assert.equal(await shop.result(waiting), "patient");
  console.log("a paused queue waits until it is resumed");
}

async function checkRemoval(shop) {
  assert.ok((await shop.queue.clean(0, 1000, "completed")).length > 50);
  assert.equal(await shop.queue.getCompletedCount(), 0);
  await shop.worker.close();
  await shop.queue.add("named", { name: "never" });
  await shop.queue.obliterate();
  const redis = new Redis(shop.connection.url);
  assert.deepEqual(await redis.keys("bull:work:*"), []);
  redis.disconnect();
  console.log("an obliterated queue leaves no key");
}

async function main(url) {
  const shop = new Shop({ url });
  await shop.events.waitUntilReady();
  await checkOrder(shop);
  await checkResults(shop);
  await checkDelays(shop);
  await checkFailures(shop);
  await checkFlows(shop);
  await checkSchedulers(shop);
  await checkPause(shop);
  await checkRemoval(shop);
  await shop.close();
}

main(process.argv[2]);
