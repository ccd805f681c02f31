"""Calls of the synchronous client, for asyncio.

Each has a thread of its own while it lasts, and not one of a pool: calls that wait (for a script that does not read its
stdin, say) could fill a pool, and the call that would end them could not be made.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from ._scope import Scope

T = TypeVar("T")


async def call(work: Callable[[], T], *, abort: bool = True, discard: Callable[[T], Any] | None = None) -> T:
    """Does work in a thread. When the task is cancelled meanwhile, what work has sent is broken off (with abort), and
    what it still returns goes to discard."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    scope, lock = Scope(), threading.Lock()
    abandoned = False
    done: list[T] = []

    def settle(value: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value: T | None = None
        error: BaseException | None = None
        try:
            with scope:
                value = work()
        except StopIteration as stop:  # which a future cannot hold
            error = RuntimeError(f"unexpected {stop!r}")
        except BaseException as raised:
            error = raised
        if error is None:
            with lock:
                unwanted = abandoned
                done.append(value)  # type: ignore[arg-type]
            if unwanted and discard is not None:
                with contextlib.suppress(Exception):
                    discard(value)  # type: ignore[arg-type]
        with contextlib.suppress(RuntimeError):  # the loop was closed
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, name="sandbar-call", daemon=True).start()
    try:
        return await future
    except asyncio.CancelledError:
        with lock:
            abandoned = True
            late = list(done)
        if abort:
            scope.abort()
        if late and discard is not None:
            threading.Thread(target=_quietly, args=(discard, late[0]), name="sandbar-call", daemon=True).start()
        raise


def _quietly(work: Callable[[Any], Any], value: Any) -> None:
    with contextlib.suppress(Exception):
        work(value)


async def signalled(register: Callable[[Callable[[], None]], None]) -> None:
    """Waits until the function that it gives to register is called, from any thread."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def settle() -> None:
        if not future.done():
            future.set_result(None)

    def ready() -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed
            loop.call_soon_threadsafe(settle)

    register(ready)
    await future
