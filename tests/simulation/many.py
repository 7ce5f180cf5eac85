"""Plays many worlds, for hours if it has to: each batch in a process of its own.

So memory does not grow, and a world that crashes the interpreter, or never ends, is one with a
problem and not the end of all.

    worker    begins seed -> an outcome -> begins the next seed ..    its batch, over a pipe
    many()    `-> it has died: the world that it had begun has failed, another worker goes on
"""

from __future__ import annotations

import multiprocessing
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from tests.simulation.world import Outcome

BATCH = 50  # worlds of one process
LONGEST_S = 300.0  # of CPU, that a world may take

Play = Callable[[int], Outcome]
_forks = multiprocessing.get_context("fork")  # what is imported is so once


def one(play: Play, seed: int) -> Outcome:
    """The outcome of *play*(seed), whatever happens, with the CPU that it took."""
    begun_s = time.process_time()
    try:
        outcome = play(seed)
    except Exception:
        outcome = failure(seed, traceback.format_exc())
    return outcome._replace(cpu_s=time.process_time() - begun_s)


def failure(seed: int, text: str) -> Outcome:
    """The outcome of a world that could not be played to its end."""
    return Outcome(seed, "", [text], "", 0, 0.0, {}, [])


def many(play: Play, seeds: range, processes: int) -> Iterator[Outcome]:
    """The outcomes of all *seeds*, as they come."""
    if len(seeds) == 1:
        yield one(play, seeds[0])
        return
    left = [seeds[at : at + BATCH] for at in range(0, len(seeds), BATCH)][::-1]
    workers: list[Worker] = []
    try:
        while left or workers:
            while left and len(workers) < processes:
                workers.append(Worker(play, left.pop()))
            ready = wait([worker.pipe for worker in workers])
            for worker in [worker for worker in workers if worker.pipe in ready]:
                yield from worker.outcomes()
                if worker.has_ended:
                    workers.remove(worker)
                    if worker.left:
                        left.append(worker.left)
    finally:
        for worker in workers:
            worker.end()


class Worker:
    """A process that plays *seeds*; *left* are those that it has not begun."""

    def __init__(self, play: Play, seeds: range) -> None:
        self.left = seeds
        self.has_ended = False
        self.pipe, theirs = _forks.Pipe(duplex=False)
        self._process: BaseProcess = _forks.Process(target=_work, args=(play, seeds, theirs))
        self._process.start()
        theirs.close()

    def outcomes(self) -> Iterator[Outcome]:
        """What has come; the last one may be that it has died."""
        try:
            outcome: Any = self.pipe.recv()
        except EOFError:
            self.end()
            if self.left:
                seed, self.left = self.left[0], self.left[1:]
                yield failure(seed, f"the process that played it has ended: {self._cause()}")
            return
        self.left = self.left[1:]
        yield outcome

    def _cause(self) -> str:
        code = self._process.exitcode or 0
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def end(self) -> None:
        """Wait for it; a process that has not ended by itself is killed."""
        self.has_ended = True
        self.pipe.close()
        self._process.join(1.0)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _work(play: Play, seeds: range, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who began it ends it
    for seed in seeds:
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)  # it ends the process
        pipe.send(one(play, seed))
