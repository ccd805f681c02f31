"""The event loop for WASI: no sockets, no child processes, no threads that could wake it."""

import _sandbar
import select
import selectors

from . import events
from . import selector_events

__all__ = ("SelectorEventLoop", "DefaultEventLoopPolicy", "EventLoop")

_FOREVER = 3600.0


class _Selector(selectors._BaseSelectorImpl):
    """Waits for descriptors that select.poll knows (standard input), or just sleeps."""

    def select(self, timeout=None):
        wait = _FOREVER if timeout is None else max(timeout, 0.0)
        if not self._fd_to_key:
            if wait > 0:
                _sandbar.wait(wait)
            return []
        poller = select.poll()
        for fd, key in self._fd_to_key.items():
            mask = 0
            if key.events & selectors.EVENT_READ:
                mask |= select.POLLIN
            if key.events & selectors.EVENT_WRITE:
                mask |= select.POLLOUT
            poller.register(fd, mask)
        ready = []
        for fd, mask in poller.poll(wait * 1000):
            found = 0
            if mask & ~select.POLLIN:
                found |= selectors.EVENT_WRITE
            if mask & ~select.POLLOUT:
                found |= selectors.EVENT_READ
            key = self._fd_to_key.get(fd)
            if key and found & key.events:
                ready.append((key, found & key.events))
        return ready


class SelectorEventLoop(selector_events.BaseSelectorEventLoop):
    """The loop. Nothing but a signal handler can call it from outside, and that ends its sleep."""

    def __init__(self, selector=None):
        super().__init__(selector or _Selector())

    def _make_self_pipe(self):
        self._ssock = self._csock = None

    def _close_self_pipe(self):
        pass

    def _write_to_self(self):
        pass


EventLoop = SelectorEventLoop


class DefaultEventLoopPolicy(events.BaseDefaultEventLoopPolicy):
    _loop_factory = SelectorEventLoop
