"""The thread that observes pages. Observations that wait at the same time share a commit."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any, TypeAlias

import simkeep
from simkeep import BugError, ClosedError, ForkedError, IoError, Observation, Outcome, PoisonedError

from ._threads import Promise, Reactor, fire

__all__ = ["FATAL", "Answer", "Observer"]

FATAL = (PoisonedError, ClosedError, ForkedError, IoError, BugError)
"""Errors after which the store accepts no more observations."""

Answer: TypeAlias = list[Outcome] | Exception
Make: TypeAlias = Callable[[], list[Observation]]


@dataclass(frozen=True)
class _Job:
    make: Make
    done: "Promise[Answer]"


class Observer:
    """Observes in a separate thread, in the order of submission."""

    def __init__(self, store: simkeep.Store) -> None:
        self._store = store
        self._reactor = Reactor()
        self._waiting: deque[_Job] = deque()
        self._changed = Condition()
        self._closing: Promise[Exception | None] | None = None
        self._broken: Exception | None = None
        self._ready: deque[tuple[Promise[Any], Any]] = deque()
        # A daemon thread: a process that stops at once does not wait for unacknowledged visits.
        self._thread = Thread(target=self._work, name="simkeep-observe", daemon=True)
        self._thread.start()

    def submit(self, make: Make) -> "Promise[Answer]":
        """Queues observations, which `make` creates in the other thread.

        The promise resolves to the outcomes once they are durable, or to the error. Call this method in the reactor
        thread.
        """
        job = _Job(make, self._reactor.promise())
        with self._changed:
            if self._closing is None:
                self._waiting.append(job)
                self._changed.notify()
            else:
                fire(job.done, ClosedError("the spider is closed"))
        return job.done

    async def close(self) -> Exception | None:
        """Observes all queued visits, and closes the store; returns the error, if any."""
        closing: Promise[Exception | None] = self._reactor.promise()
        with self._changed:
            self._closing = closing
            self._changed.notify()
        return await closing

    def _work(self) -> None:
        while jobs := self._next():
            answers = self._answers(jobs)
            done = [job.done for job in jobs]
            self._reactor.call(self._deliver, list(zip(done, answers, strict=True)))
        error: Exception | None = None
        try:
            self._store.close()
        except Exception as e:
            error = e
        assert self._closing is not None
        self._reactor.call(self._deliver, [(self._closing, error)])

    def _deliver(self, answers: "list[tuple[Promise[Any], Any]]") -> None:
        """Queues answers after waiting answers. Runs in the reactor thread."""
        idle = not self._ready
        self._ready.extend(answers)
        if idle:
            self._observe_next()

    def _observe_next(self) -> None:
        """Delivers the first answer at once, and the other answers one by one between other events of the reactor.

        Delivering all answers at once would keep the reactor busy with their pages, some milliseconds for each. Then
        the reactor would send all next requests together, and wait for the responses and for one commit.
        """
        done, answer = self._ready[0]
        fire(done, answer)
        self._ready.popleft()
        if self._ready:
            self._reactor.soon(self._observe_next)

    def _next(self) -> list[_Job]:
        """Waits for jobs, and returns all of them; an empty list after `close`."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing is not None)
            jobs = list(self._waiting)
            self._waiting.clear()
        return jobs

    def _answers(self, jobs: list[_Job]) -> list[Answer]:
        """Observes the jobs in one commit, or one by one if the store rejects one of them."""
        made = [_made(job.make) for job in jobs]
        rows = [row for part in made if isinstance(part, list) for row in part]
        together = self._observe(rows)
        answers: list[Answer] = []
        for part in made:
            if isinstance(part, Exception):
                answers.append(part)
            elif isinstance(together, list):
                answers.append(together[: len(part)])
                del together[: len(part)]
            else:
                # Nothing was stored. Observe each job alone, so that valid ones are stored.
                answers.append(self._broken or self._alone(part))
        return answers

    def _alone(self, rows: list[Observation]) -> Answer:
        """Observes one job. If only a redirect of the job is invalid, observes only the page."""
        answer = self._observe(rows)
        return self._observe(rows[-1:]) if isinstance(answer, Exception) and len(rows) > 1 else answer

    def _observe(self, rows: list[Observation]) -> Answer:
        if self._broken is not None:
            return self._broken
        try:
            return list(self._store.observe_batch(rows)) if rows else []
        except FATAL as e:
            self._broken = e
            return e
        except Exception as e:
            return e
        except BaseException as e:
            self._broken = _bug(e)
            return self._broken


def _made(make: Make) -> list[Observation] | Exception:
    try:
        return make()
    except Exception as e:
        return e
    except BaseException as e:
        return _bug(e)


def _bug(panic: BaseException) -> BugError:
    """Converts a panic of the extension to an error. A panic is not an `Exception`, and would end the thread."""
    return BugError(f"{type(panic).__name__}: {panic}")
