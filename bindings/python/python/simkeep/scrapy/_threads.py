"""Callbacks from other threads to the reactor."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

from twisted.internet.defer import Deferred

__all__ = ["Promise", "Reactor", "Side", "fire"]

_T = TypeVar("_T")

Promise: TypeAlias = asyncio.Future[_T] | Deferred[_T]
"""An awaitable of Scrapy: a future with asyncio, otherwise a `Deferred`."""


class Reactor:
    """The event loop of the spider: an asyncio loop, or a Twisted reactor.

    Create the object in the thread of the running loop.
    """

    def __init__(self) -> None:
        self._reactor: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            from twisted.internet import reactor

            self._reactor = reactor

    def promise(self) -> "Promise[Any]":
        """Returns a promise to await, which `fire` resolves."""
        return Deferred() if self._loop is None else self._loop.create_future()

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Schedules a call in the loop. From any thread; does nothing if the loop has ended."""
        if self._loop is None:
            self._reactor.callFromThread(function, *args)
            return
        try:
            self._loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            if not self._loop.is_closed():
                raise

    def soon(self, function: Callable[..., object], *args: object) -> None:
        """Schedules a call after other pending events. From the loop's own thread."""
        if self._loop is None:
            self._reactor.callLater(0, function, *args)
        else:
            self._loop.call_soon(function, *args)

    def later(self, seconds: float, function: Callable[[], object]) -> None:
        """Schedules a call after some seconds. From the loop's own thread."""
        if self._loop is None:
            self._reactor.callLater(seconds, function)
        else:
            self._loop.call_later(seconds, function)


class Side:
    """A second thread, in addition to the reactor's thread, for calls that may wait for the disk."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "simkeep")

    async def run(self, function: Callable[..., _T], *args: Any) -> _T:
        """Calls a function in the thread, and returns its result or raises its exception."""
        reactor = Reactor()
        done: Promise[Future[_T]] = reactor.promise()

        def ended(future: Future[_T]) -> None:
            reactor.call(fire, done, future)

        self._pool.submit(function, *args).add_done_callback(ended)
        return (await done).result()

    def end(self) -> None:
        """Ends the thread without waiting for its end."""
        self._pool.shutdown(wait=False)


def fire(done: "Promise[_T]", result: _T) -> None:
    """Resolves a promise, unless it was resolved or cancelled before."""
    if isinstance(done, Deferred):
        if not done.called:
            done.callback(result)
    elif not done.done():
        done.set_result(result)
