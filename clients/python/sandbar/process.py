"""A run that was started."""

from __future__ import annotations

import contextlib
import dataclasses
import signal as signals
import threading
from collections.abc import Callable, Iterator

from . import _answers, _requests
from . import _values as v
from ._call import ServerStream
from ._frames import Truncated
from ._output import Output
from ._scope import Scope
from ._texts import as_text
from ._transport import Transport
from .errors import (
    Closed,
    DeadlineError,
    InvalidError,
    Lost,
    NotFound,
    ProtocolError,
    SandbarError,
    StdinClosed,
    Unavailable,
)
from .types import Output as Written
from .types import Result, TextOutput

DEFAULT_KEPT = 8 << 20
"""What is kept of each stream that nobody streams, in bytes."""
_STDIN_PIECE = 512 << 10
_SIGNALS = {
    "interrupt": "SIGNAL_INTERRUPT",
    "terminate": "SIGNAL_TERMINATE",
    "kill": "SIGNAL_KILL",
    signals.SIGINT: "SIGNAL_INTERRUPT",
    signals.SIGTERM: "SIGNAL_TERMINATE",
    9: "SIGNAL_KILL",
}


class Process:
    """A run. Its methods are safe for use by several threads; each stream is for one reader at a time.

    A thread reads what the script writes. What nobody iterates over is kept up to max_output_bytes, and then dropped
    (result.truncated) once somebody waits for the end; before that a script that is further ahead waits. What is
    iterated over has no cap: the script waits when it is more than 1 MiB ahead.

    As a context manager it ends the run, unless that has ended or is detached.
    """

    def __init__(self, transport: Transport, session_id: str, limit: int | None, *, stdin_pipe: bool, detached: bool):
        """Is for Session.run and Session.attach_run."""
        self._transport = transport
        self._session_id = session_id
        self._limit = limit
        self._pipe = stdin_pipe
        self._detached = detached
        self._stdout, self._stderr = Output(limit, self._watch), Output(limit, self._watch)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self._result: Result | None = None
        self._error: SandbarError | None = None
        self._stdin_lock = threading.Lock()
        self._scope = Scope()  # of calls that wait for the run
        self._watched = False
        self._stream: ServerStream | None = None
        self._given_up = False
        self.run_id = ""
        """Unguessable; it is in the server's logs of the run."""
        self.tier = ""
        """wasm or native."""
        self.backend = ""
        self.route = ""
        """Why the run went to this tier."""
        self.stdout_skipped = 0
        """Bytes that the server no longer had. For detached runs alone."""
        self.stderr_skipped = 0

    # What the run does.

    @property
    def result(self) -> Result | None:
        """How the run ended. None: it has not, or that is not known."""
        return self._result

    def wait(self, timeout: float | None = None) -> Result:
        """Waits for the end of the run, for timeout seconds at most (None: without a limit).

        Raises DeadlineError when it has not ended by then: the run goes on. Raises Lost when its end is not known, and
        Closed when close was called.
        """
        if timeout is not None:
            v.check_seconds("timeout", timeout)
        self._keep()
        if not self._ended.wait(min(timeout, threading.TIMEOUT_MAX) if timeout is not None else None):
            raise DeadlineError(f"wait for run: it goes on after {timeout:g} s")
        return self._outcome()

    def communicate(self, input: v.Text | None = None) -> Written:  # noqa: A002 - the name of subprocess
        """Gives input to the script as the rest of its stdin, waits for the end of the run, and returns what it wrote.

        Input needs stdin_pipe. Output is given once: a second call returns none. Errors are those of wait; Lost has
        what the script wrote before its end was lost.
        """
        data = b"" if input is None else v.to_bytes("input", input)
        if data and not self._pipe:
            raise InvalidError.of("input", "is given, and the run was started without stdin_pipe")
        self._keep()
        if self._pipe:
            self._feed_all(data)
        self._ended.wait()
        return self._written()

    def communicate_text(self, input: v.Text | None = None) -> TextOutput:  # noqa: A002
        """Is communicate for text. What is not UTF-8 is replaced by U+FFFD; it never fails for that."""
        return as_text(self.communicate(input))

    # What it writes.

    def iter_stdout(self) -> Iterator[bytes]:
        """Gives what the script writes, as it writes it, to the end of the run. Raises Lost after the last of it when
        the stream ended before the run. After a break the rest is kept, and a new loop goes on."""
        return self._iter(self._stdout, self._stderr)

    def iter_stderr(self) -> Iterator[bytes]:
        """Is like iter_stdout, for stderr."""
        return self._iter(self._stderr, self._stdout)

    def iter_stdout_lines(self) -> Iterator[str]:
        r"""Gives the lines that the script writes, without their newline ("\n"; a "\r" before it stays). A last line
        without a newline is given once. What is not UTF-8 is replaced by U+FFFD. A line longer than max_output_bytes
        comes in pieces. Errors and a break are as with iter_stdout."""
        return self._iter_lines(self._stdout, self._stderr)

    def iter_stderr_lines(self) -> Iterator[str]:
        """Is like iter_stdout_lines, for stderr."""
        return self._iter_lines(self._stderr, self._stdout)

    def _iter(self, output: Output, other: Output) -> Iterator[bytes]:
        output.claim()
        try:
            other.keep()
            while data := output.read():
                yield data
        finally:
            output.release()
        self._check_end()

    def _iter_lines(self, output: Output, other: Output) -> Iterator[str]:
        output.claim()
        try:
            other.keep()
            while (line := output.line()) is not None:
                yield line
        finally:
            output.release()
        self._check_end()

    def _check_end(self) -> None:
        # The streams end with the run: this does not wait long.
        self._ended.wait()
        self._outcome()

    # What can be done to it.

    def write_stdin(self, data: v.Text) -> None:
        """Writes to the script's stdin. It returns when the server has taken it, which waits for a script that does not
        read. Needs stdin_pipe. Raises StdinClosed when the run has ended or its stdin was closed."""
        self._need_pipe()
        self._feed(v.to_bytes("data", data), close=False)

    def close_stdin(self) -> None:
        """Ends the script's stdin. Needs stdin_pipe. It does nothing when that has ended."""
        self._need_pipe()
        with contextlib.suppress(StdinClosed):
            self._feed(b"", close=True)

    def signal(self, number: str | int) -> None:
        """Sends a signal: "interrupt" (SIGINT; KeyboardInterrupt in the wasm tier), "terminate" (ends the run: in an
        orderly way, and after the tier's grace by force) or "kill" (by force), or the number of one of these. It does
        nothing when the run has ended."""
        if number not in _SIGNALS:
            raise InvalidError.of("signal", f"is {number!r}, and not interrupt, terminate or kill")
        name = _SIGNALS[number]  # type: ignore[index]
        if self._ended.is_set():
            return
        self._send("SignalRun", {"signal": name})
        if name != "SIGNAL_INTERRUPT":
            self._stop()

    def kill(self) -> None:
        """Ends the run: first in an orderly way, after the tier's grace (2 s native, 0.1 s wasm) by force. It does not
        wait, and does nothing when the run has ended."""
        self.signal("terminate")

    def resize(self, rows: int, cols: int) -> None:
        """Changes the size of the run's terminal. It does nothing when the run has ended."""
        size = _requests.size((rows, cols))
        if not self._ended.is_set():
            self._send("ResizeRun", {"size": size})

    def close(self) -> None:
        """Ends the local side: nothing more is read, and the server ends the run unless it is detached. It does not
        wait, and may be called again."""
        with self._lock:
            self._given_up = True
            stream = self._stream
        self._stop()
        self._scope.abort()
        if stream is not None and not self._ended.is_set():
            stream.abort()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add_done_callback(self, call: Callable[[], None]) -> None:
        """Calls back when the run has ended, from any thread, or now if it has."""
        with self._lock:
            if not self._ended.is_set():
                self._callbacks.append(call)
                return
        call()

    # The stream of events.

    def _begin(self, method: str, request: v.Json, heartbeat: float) -> None:
        """Makes the call and returns when the run has started; a thread reads the rest of the stream."""
        request["heartbeat"] = v.duration("heartbeat", heartbeat)
        try:
            # A run may wait for its turn, and an interpreter be compiled: until it starts there are no heartbeats.
            stream = self._transport.server_stream(method, request, self._transport.timeout(slow=True))
            self._follow(stream, 3 * heartbeat)
        except (Unavailable, DeadlineError, Truncated) as error:
            sent = error.code is None and (not isinstance(error, Unavailable) or error.sent)
            if not sent or method != "Run":
                raise
            raise Lost(f"run: its start was not heard of, and it may have run: {error}", kinds=("lost",)) from error

    def _follow(self, stream: ServerStream, silence: float) -> None:
        with self._lock:
            self._stream = stream
        events = iter(stream)
        try:
            event = self._start_of(events)
        except BaseException:
            stream.close()
            raise
        stream.set_silence(silence)
        name = f"sandbar-run-{self.run_id[:8]}"
        threading.Thread(target=self._read, args=(event, events, stream), name=name, daemon=True).start()

    def _start_of(self, events: Iterator[v.Json]) -> v.Json:
        for message in events:
            event = v.obj(message.get("event"))
            if "started" in event:
                self._started(v.obj(event["started"]))
                return event
        raise Truncated("the run's stream has no start")

    def _started(self, started: v.Json) -> None:
        self.run_id = v.string(started.get("runId"))
        self.tier = v.name(started.get("tier"), "TIER_")
        self.backend = v.string(started.get("backend"))
        self.route = v.string(started.get("route"))
        if not self.run_id:
            raise ProtocolError("the run's start has no id")

    def _read(self, event: v.Json, events: Iterator[v.Json], stream: ServerStream) -> None:
        ended = False
        try:
            ended = self._event(event)
            for message in events:
                if ended:
                    raise ProtocolError("the run's stream goes on after its end")
                ended = self._event(v.obj(message.get("event")))
            if not ended:
                self._finish(None, Lost("run lost: its stream ended before it", kinds=("lost",)))
        except Exception as error:
            stream.close()
            if not ended:
                self._finish(None, self._lost(error))

    def _event(self, event: v.Json) -> bool:
        """Does what an event says, and tells whether it was the last."""
        self.stdout_skipped += v.integer(event.get("stdoutSkipped"))
        self.stderr_skipped += v.integer(event.get("stderrSkipped"))
        if "stdout" in event:
            self._stdout.write(v.decode(event["stdout"]))
        if "stderr" in event:
            self._stderr.write(v.decode(event["stderr"]))
        if "exited" not in event:
            return False
        result = _answers.result(v.obj(event["exited"]))
        if result.reason == "lost":
            self._finish(None, Lost("run lost: the server does not know its end", kinds=("lost",)))
            return True
        dropped = self._stdout.truncated or self._stderr.truncated
        if dropped or self.stdout_skipped or self.stderr_skipped:
            result = dataclasses.replace(result, truncated=True)
        self._finish(result, None)
        return True

    def _lost(self, error: Exception) -> SandbarError:
        if self._given_up:
            return Closed("process closed")
        if isinstance(error, Lost):
            return error
        if isinstance(error, SandbarError) and error.code is not None and not isinstance(error, Unavailable):
            return error  # the server says itself what befell the run
        if isinstance(error, DeadlineError):
            lost = Lost("run lost: the server was silent for longer than three heartbeats", kinds=("lost",))
        else:
            lost = Lost(f"run lost: its stream ended before it: {error}", kinds=("lost",))
        lost.__cause__ = error
        return lost

    def _finish(self, result: Result | None, error: SandbarError | None) -> None:
        with self._lock:
            self._result, self._error = result, error
            self._ended.set()
            callbacks, self._callbacks = self._callbacks, []
        self._stdout.end()
        self._stderr.end()
        self._scope.abort()  # who writes waits for a script that will not read
        for call in callbacks:
            call()

    def _watch(self) -> None:
        """Asks for the end of the run on another way: on this one it cannot come past bytes that nobody takes. A run that
        did not end by itself then does not wait for its reader."""
        with self._lock:
            watched, self._watched = self._watched, True
        if not watched:
            name = f"sandbar-watch-{self.run_id[:8]}"
            threading.Thread(target=self._await_end, name=name, daemon=True).start()

    def _await_end(self) -> None:
        message = {"sessionId": self._session_id, "runId": self.run_id}
        try:
            with self._scope:
                answer = self._transport.unary_unbounded("WaitRun", message)
            result = _answers.result(v.obj(answer.get("result")))
        except SandbarError:
            return  # the end is not known to be there: what is written waits for its reader
        if result.reason not in ("exited", "signaled"):
            self._stop()

    # Helpers.

    def _outcome(self) -> Result:
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def _written(self) -> Written:
        try:
            result = self._outcome()
        except Lost as error:
            error.stdout, error.stderr = self._take(self._stdout), self._take(self._stderr)
            raise
        return Written(self._take(self._stdout), self._take(self._stderr), result)

    def _feed_all(self, data: bytes) -> None:
        # A script may end, or close its stdin, without reading all: that is no error. Nor is it one here when the
        # server has gone away: the run's own stream knows better what is known of it then.
        with contextlib.suppress(StdinClosed, Unavailable, DeadlineError, Closed):
            self._feed(data, close=True)

    def _keep(self) -> None:
        self._stdout.keep()
        self._stderr.keep()

    def _stop(self) -> None:
        self._stdout.stop()
        self._stderr.stop()

    def _take(self, output: Output) -> bytes:
        return b"" if output.claimed else output.take_all()

    def _need_pipe(self) -> None:
        if not self._pipe:
            raise InvalidError.of("stdin", "is no pipe: the run was started without stdin_pipe")

    def _feed(self, data: bytes, *, close: bool) -> None:
        view = memoryview(data)
        with self._stdin_lock:
            while True:
                piece, view = view[:_STDIN_PIECE], view[_STDIN_PIECE:]
                last = not view
                if piece or (close and last):
                    self._write(bytes(piece), close and last)
                if last:
                    return

    def _write(self, data: bytes, close: bool) -> None:
        message = {"sessionId": self._session_id, "runId": self.run_id, "data": v.encode(data), "close": close}
        try:
            with self._scope:
                self._transport.unary_unbounded("WriteStdin", message)
        except NotFound as error:
            raise StdinClosed("write to stdin: the run has ended") from error
        except SandbarError as error:
            if self._ended.is_set() or error.code == "failed_precondition":
                raise StdinClosed("write to stdin: the run has ended, or its stdin was closed") from error
            raise

    def _send(self, method: str, fields: v.Json) -> None:
        try:
            self._transport.unary(method, {"sessionId": self._session_id, "runId": self.run_id} | fields)
        except NotFound:
            if not self._ended.wait(1):
                raise
