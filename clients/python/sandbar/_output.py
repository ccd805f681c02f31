"""The stdout or stderr of a run, between the thread that reads it from the server and who wants it."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable

WINDOW = 1 << 20
"""How far the script may be ahead of who streams, in bytes."""
STUCK = 0.2
"""After how long with bytes that nobody takes the writer is stuck, in seconds."""


class Ended(Exception):
    """There is no more."""


class Output:
    """One writer, one reader. What happens when nobody reads depends on who has asked for it:

    nobody yet   keeps up to limit bytes, then the writer waits: nothing is lost by asking late
    kept         keeps up to limit bytes, then drops: the script does not notice
    streamed     keeps up to WINDOW bytes, then the writer waits for the reader: nothing is lost

    Once the run is being stopped the writer never waits: what does not fit is dropped. limit None is none. stuck is
    called, once, when the writer has waited for a while: the end of the run, which comes behind, then waits as well.
    """

    def __init__(self, limit: int | None, stuck: Callable[[], None] | None = None):
        self._limit = limit
        self._stuck = stuck
        self._changed = threading.Condition()
        self._parts: collections.deque[bytes] = collections.deque()
        self._size = 0  # of the parts
        self._begun = bytearray()  # the beginning of a line; not more than limit
        self._searched = 0  # there is no newline before this in it
        self._kept = self._stopped = self._ended = False
        self._streamed = 0
        self._waiters: list[Callable[[], None]] = []
        self.claimed = False
        self.truncated = False

    def write(self, data: bytes) -> None:
        """Takes the next bytes. It waits when they are not to be dropped and there is no room."""
        with self._changed:
            while data and not self._ended:
                limit = WINDOW if self._streamed else self._limit
                room = len(data) if limit is None else min(limit - self._size, len(data))
                if room > 0:
                    self._parts.append(data[:room])
                    self._size += room
                    data = data[room:]
                    self._wake()
                elif self._stopped or (self._kept and not self._streamed):
                    self.truncated = True
                    return
                elif not self._changed.wait(STUCK) and self._stuck is not None:
                    stuck, self._stuck = self._stuck, None
                    stuck()

    def end(self) -> None:
        """There will be no more."""
        with self._changed:
            self._ended = True
            self._wake()

    def stop(self) -> None:
        """The writer must not wait any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def keep(self) -> None:
        """Somebody waits for the end of the run: what nobody streams is kept or dropped."""
        with self._changed:
            self._kept = True
            self._changed.notify_all()

    def claim(self) -> None:
        """Somebody streams, until release."""
        with self._changed:
            self.claimed = True
            self._streamed += 1
            self._changed.notify_all()

    def release(self) -> None:
        with self._changed:
            self._streamed -= 1
            self._changed.notify_all()

    def read(self) -> bytes:
        """The next bytes, when there are some. Empty: there will be no more."""
        with self._changed:
            while True:
                try:
                    data = self._take()
                except Ended:
                    return b""
                if data:
                    return data
                self._changed.wait()

    def poll(self) -> bytes:
        """The next bytes if there are some now, else none. Raises Ended when there will be no more."""
        with self._changed:
            return self._take()

    def when_ready(self, call: Callable[[], None]) -> None:
        """Calls back, once and from any thread, when poll or poll_line has nothing and more has come."""
        with self._changed:
            if not self._parts and not self._ended:
                self._waiters.append(call)
                return
        call()

    def line(self) -> str | None:
        """The next line as text, without its newline. It waits for it. None: there will be no more."""
        with self._changed:
            while True:
                try:
                    line = self._line()
                except Ended:
                    return None
                if line is not None:
                    return line
                self._changed.wait()

    def poll_line(self) -> str | None:
        """The next line if it is there now, else None. Raises Ended when there will be no more."""
        with self._changed:
            return self._line()

    def take_all(self) -> bytes:
        """All that is there."""
        with self._changed:
            data = b"".join((bytes(self._begun), *self._parts))
            self._begun.clear()
            self._parts.clear()
            self._size = 0
            self._changed.notify_all()
            return data

    def _take(self) -> bytes:
        if self._begun:
            data = bytes(self._begun)
            self._begun.clear()
            self._searched = 0
            return data
        if not self._parts:
            if self._ended:
                raise Ended
            return b""
        return self._pop()

    def _pop(self) -> bytes:
        data = self._parts.popleft()
        self._size -= len(data)
        self._changed.notify_all()
        return data

    def _line(self) -> str | None:
        while True:
            at = self._begun.find(b"\n", self._searched)
            if self._limit is not None and (at if at >= 0 else len(self._begun)) > self._limit:
                return self._cut(self._limit, 0)
            if at >= 0:
                return self._cut(at, 1)
            self._searched = len(self._begun)
            if self._parts:
                self._begun += self._pop()
            elif not self._ended:
                return None
            elif self._begun:
                return self._cut(len(self._begun), 0)
            else:
                raise Ended

    def _cut(self, size: int, newline: int) -> str:
        line = self._begun[:size].decode("utf-8", "replace")
        del self._begun[: size + newline]
        self._searched = 0
        return line

    def _wake(self) -> None:
        self._changed.notify_all()
        waiters, self._waiters = self._waiters, []
        for call in waiters:
            call()
