"""How other threads call the reactor back."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.reactor import is_reactor_installed
from twisted.internet.defer import Deferred

__all__ = ["Reactor", "Side"]

_T = TypeVar("_T")


class Reactor:
    """What runs the spider: the reactor of Twisted, or a loop of asyncio without one.

    To be made in its thread, once it runs.
    """

    def __init__(self) -> None:
        self._reactor: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        if is_reactor_installed():
            from twisted.internet import reactor

            self._reactor = reactor
        else:
            self._loop = asyncio.get_running_loop()

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
        reactor, done = Reactor(), Deferred[Future[_T]]()

        def ended(future: Future[_T]) -> None:
            reactor.call(fire, done, future)

        self._pool.submit(function, *args).add_done_callback(ended)
        future = await maybe_deferred_to_future(done)
        return future.result()

    def end(self) -> None:
        """Ends the thread, without waiting for it."""
        self._pool.shutdown(wait=False)


def fire(done: "Deferred[_T]", result: _T) -> None:
    """Gives a result to whoever waits, if anybody still does."""
    if not done.called:
        done.callback(result)
