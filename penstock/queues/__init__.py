"""Job queues on a Penstock server, for programs that use redis-py.

    queue = Queue(redis.Redis(), "mails")
    queue.declare()
    queue.enqueue({"to": "ann"})

    Worker(queue, send).run()     # send(job) until stop(); a job that fails comes again

For asyncio, ``penstock.queues.asyncio`` has Queue, Worker and Job with the same methods.

The server does the work: it delivers again what is not done in time, and puts what fails too often
among the dead letters (docs/queues.md). So a worker may die at any moment, and any client library
of any language can take part: a queue is a stream, a worker a consumer of its group.

    words.py          what is said to the server
    answers.py        what its answers mean
    outcomes.py       how a job ends
    hand.py           what a worker has in hand
    worker_words.py   what workers of both kinds do
    threads.py        Queue, Worker and Job on redis.Redis
    asyncio.py        the same on redis.asyncio.Redis
"""

from penstock.queues.outcomes import Rejected, Retry
from penstock.queues.threads import Job, Queue, Worker

__all__ = ["Job", "Queue", "Rejected", "Retry", "Worker"]
