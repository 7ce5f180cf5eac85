// BullMQ: one process of Node; a job is removed when it is done.
const { performance } = require("node:perf_hooks");
const { Queue, Worker } = require("bullmq");

async function enqueue(connection, jobs, how) {
  const queue = new Queue("jobs", { connection });
  await queue.waitUntilReady();
  const opts = { removeOnComplete: true };
  const begun = performance.now();
  if (how === "many") {
    for (let at = 0; at < jobs; at += 1000) {
      const some = Array.from({ length: 1000 }, () => ({ name: "job", data: { n: "1" }, opts }));
      await queue.addBulk(some);
    }
  } else {
    for (let i = 0; i < jobs; i++) await queue.add("job", { n: "1" }, opts);
  }
  console.log(`enqueued ${(performance.now() - begun) / 1000}`);
  await queue.close();
}

function work(connection, jobs, concurrency) {
  let done = 0;
  let begun = 0;
  const job = async () => {
    done += 1;
    if (done === 1) {
      begun = performance.now();
      console.log("first");
    } else if (done === jobs) console.log(`last ${(performance.now() - begun) / 1000}`);
  };
  new Worker("jobs", job, { connection, concurrency });
}

const [verb, url, jobs, how] = process.argv.slice(2);
if (verb === "enqueue") enqueue({ url }, Number(jobs), how);
else work({ url }, Number(jobs), Number(how || 1));
