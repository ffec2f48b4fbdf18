"""How other threads call the reactor back."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

from twisted.internet.defer import Deferred

__all__ = ["Promise", "Reactor", "Side", "fire"]

_T = TypeVar("_T")

Promise: TypeAlias = asyncio.Future[_T] | Deferred[_T]
"""What coroutines of Scrapy can await: the one with asyncio, the other without."""


class Reactor:
    """What runs the spider: a loop of asyncio, with a reactor of Twisted or without, or a reactor alone.

    To be made in its thread, while it runs.
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
        """Something that is to be awaited, and fired by a call."""
        return Deferred() if self._loop is None else self._loop.create_future()

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Has it call a function. From any thread; if it has ended, nothing happens."""
        if self._loop is None:
            self._reactor.callFromThread(function, *args)
            return
        try:
            self._loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            if not self._loop.is_closed():
                raise

    def soon(self, function: Callable[..., object], *args: object) -> None:
        """Has it call a function when it has looked at what else there is to do. From its own thread."""
        if self._loop is None:
            self._reactor.callLater(0, function, *args)
        else:
            self._loop.call_soon(function, *args)

    def later(self, seconds: float, function: Callable[[], object]) -> None:
        """Has it call a function in some time. From its own thread."""
        if self._loop is None:
            self._reactor.callLater(seconds, function)
        else:
            self._loop.call_later(seconds, function)


class Side:
    """A thread beside that of the reactor, for what may wait for a disk."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "simkeep")

    async def run(self, function: Callable[..., _T], *args: Any) -> _T:
        """Calls a function there, and returns or raises what it does."""
        reactor = Reactor()
        done: Promise[Future[_T]] = reactor.promise()

        def ended(future: Future[_T]) -> None:
            reactor.call(fire, done, future)

        self._pool.submit(function, *args).add_done_callback(ended)
        return (await done).result()

    def end(self) -> None:
        """Ends the thread, without waiting for it."""
        self._pool.shutdown(wait=False)


def fire(done: "Promise[_T]", result: _T) -> None:
    """Gives a result to whoever waits, if anybody still does."""
    if isinstance(done, Deferred):
        if not done.called:
            done.callback(result)
    elif not done.done():
        done.set_result(result)
