"""The same for asyncio: AsyncClient, AsyncSession and AsyncProcess have the methods of Client, Session and Process as
coroutines, with the same arguments, defaults and errors.

A task that is cancelled while it waits for a run ends the run on the server, unless that is detached.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any, Generic, TypeVar

from . import _threads, _transfer
from . import _values as v
from ._output import Ended, Output
from ._texts import as_text, check_exit
from .client import Client
from .errors import DeadlineError, InvalidError
from .process import Process
from .session import Path, Session
from .types import Change, FileInfo, Health, Result, RunInfo, SessionInfo, Snapshot, TextOutput, Usage
from .types import Output as Written

T = TypeVar("T", "AsyncSession", "AsyncProcess")


class _Opening(Generic[T]):
    """What can be awaited, or used with "async with" at once."""

    def __init__(self, opening: Callable[[], Awaitable[T]]):
        self._opening = opening

    def __await__(self) -> Generator[Any, None, T]:
        return self._opening().__await__()

    async def __aenter__(self) -> T:
        self._opened = await self._opening()
        return await self._opened.__aenter__()  # type: ignore[return-value]

    async def __aexit__(self, *error: Any) -> None:
        await self._opened.__aexit__(*error)


class AsyncProcess:
    """See Process. With "async with", the run has ended or is ended when the block is left, unless it is detached."""

    def __init__(self, process: Process):
        """Is for AsyncSession."""
        self._process = process

    @property
    def run_id(self) -> str:
        return self._process.run_id

    @property
    def tier(self) -> str:
        return self._process.tier

    @property
    def backend(self) -> str:
        return self._process.backend

    @property
    def route(self) -> str:
        return self._process.route

    @property
    def stdout_skipped(self) -> int:
        return self._process.stdout_skipped

    @property
    def stderr_skipped(self) -> int:
        return self._process.stderr_skipped

    @property
    def result(self) -> Result | None:
        return self._process.result

    async def wait(self, timeout: float | None = None) -> Result:
        """See Process.wait. With timeout the run goes on after it; a task that is cancelled ends the run."""
        if timeout is not None:
            v.check_seconds("timeout", timeout)
        self._process._keep()
        try:
            await asyncio.wait_for(self._end(), timeout)
        except (asyncio.TimeoutError, TimeoutError):
            raise DeadlineError(f"wait for run: it goes on after {timeout:g} s") from None
        except asyncio.CancelledError:
            self._process.close()
            raise
        return self._process._outcome()

    async def communicate(self, input: v.Text | None = None) -> Written:  # noqa: A002
        """See Process.communicate."""
        data = b"" if input is None else v.to_bytes("input", input)
        if data and not self._process._pipe:
            raise InvalidError.of("input", "is given, and the run was started without stdin_pipe")
        self._process._keep()
        try:
            if self._process._pipe:
                await _threads.call(lambda: self._process._feed_all(data))
            await self._end()
        except asyncio.CancelledError:
            self._process.close()
            raise
        return self._process._written()

    async def communicate_text(self, input: v.Text | None = None) -> TextOutput:  # noqa: A002
        """See Process.communicate_text."""
        return as_text(await self.communicate(input))

    def iter_stdout(self) -> AsyncIterator[bytes]:
        """See Process.iter_stdout."""
        return self._iter(self._process._stdout, self._process._stderr)

    def iter_stderr(self) -> AsyncIterator[bytes]:
        """See Process.iter_stderr."""
        return self._iter(self._process._stderr, self._process._stdout)

    def iter_stdout_lines(self) -> AsyncIterator[str]:
        """See Process.iter_stdout_lines."""
        return self._iter_lines(self._process._stdout, self._process._stderr)

    def iter_stderr_lines(self) -> AsyncIterator[str]:
        """See Process.iter_stderr_lines."""
        return self._iter_lines(self._process._stderr, self._process._stdout)

    async def _iter(self, output: Output, other: Output) -> AsyncIterator[bytes]:
        output.claim()
        try:
            other.keep()
            with contextlib.suppress(Ended):
                while True:
                    if data := output.poll():
                        yield data
                    else:
                        await self._ready(output)
        finally:
            output.release()
        await self._end()
        self._process._outcome()

    async def _iter_lines(self, output: Output, other: Output) -> AsyncIterator[str]:
        output.claim()
        try:
            other.keep()
            with contextlib.suppress(Ended):
                while True:
                    if (line := output.poll_line()) is not None:
                        yield line
                    else:
                        await self._ready(output)
        finally:
            output.release()
        await self._end()
        self._process._outcome()

    async def _ready(self, output: Output) -> None:
        try:
            await _threads.signalled(output.when_ready)
        except asyncio.CancelledError:
            self._process.close()
            raise

    async def _end(self) -> None:
        await _threads.signalled(self._process.add_done_callback)

    async def write_stdin(self, data: v.Text) -> None:
        """See Process.write_stdin."""
        try:
            await _threads.call(lambda: self._process.write_stdin(data))
        except asyncio.CancelledError:
            self._process.close()
            raise

    async def close_stdin(self) -> None:
        """See Process.close_stdin."""
        await _threads.call(self._process.close_stdin)

    async def signal(self, number: str | int) -> None:
        """See Process.signal."""
        await _threads.call(lambda: self._process.signal(number), abort=False)

    async def kill(self) -> None:
        """See Process.kill."""
        await self.signal("terminate")

    async def resize(self, rows: int, cols: int) -> None:
        """See Process.resize."""
        await _threads.call(lambda: self._process.resize(rows, cols))

    async def close(self) -> None:
        """See Process.close."""
        self._process.close()

    async def __aenter__(self) -> AsyncProcess:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.close()


class AsyncSession:
    """See Session."""

    def __init__(self, session: Session):
        """Is for AsyncClient."""
        self._session = session

    @property
    def session_id(self) -> str:
        return self._session.session_id

    def reference(self) -> dict[str, Any]:
        """See Session.reference."""
        return self._session.reference()

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(self, *error: Any) -> None:
        await _threads.call(lambda: self._session.__exit__(*error), abort=False)

    async def close(self) -> None:
        """See Session.close. It is done also when the task is cancelled meanwhile."""
        await _threads.call(self._session.close, abort=False)

    def run(self, script: v.Text, **options: Any) -> _Opening[AsyncProcess]:
        """See Session.run. Use "await session.run(...)" or "async with session.run(...)"."""
        return _Opening(lambda: self._process(lambda: self._session.run(script, **options)))

    def attach_run(self, run_id: str, **options: Any) -> _Opening[AsyncProcess]:
        """See Session.attach_run."""
        return _Opening(lambda: self._process(lambda: self._session.attach_run(run_id, **options)))

    async def _process(self, start: Callable[[], Process]) -> AsyncProcess:
        return AsyncProcess(await _threads.call(start, discard=Process.close))

    async def exec(self, script: v.Text, **options: Any) -> Written:
        """See Session.exec."""
        process = await self._process(lambda: self._session._begin(script, options))
        async with process:
            return await process.communicate()

    async def run_code(self, code: v.Text, **options: Any) -> bytes:
        """See Session.run_code."""
        return check_exit(await self.exec(code, **options))

    async def runs(self) -> list[RunInfo]:
        """See Session.runs."""
        return await _threads.call(self._session.runs)

    async def put_bytes(self, path: Path, data: bytes, *, mode: int = 0) -> None:
        """See Session.put_bytes."""
        await _threads.call(lambda: self._session.put_bytes(path, data, mode=mode))

    async def get_bytes(self, path: Path, *, max_bytes: int | None = None) -> bytes:
        """See Session.get_bytes."""
        return await _threads.call(lambda: self._session.get_bytes(path, max_bytes=max_bytes))

    async def put_file(self, path: Path, source: _transfer.Source, *, mode: int = 0) -> None:
        """See Session.put_file."""
        await _threads.call(lambda: self._session.put_file(path, source, mode=mode))

    async def get_file(self, path: Path, destination: _transfer.Source, *, max_bytes: int | None = None) -> int:
        """See Session.get_file."""
        return await _threads.call(lambda: self._session.get_file(path, destination, max_bytes=max_bytes))

    async def stat(self, path: Path) -> FileInfo:
        """See Session.stat."""
        return await _threads.call(lambda: self._session.stat(path))

    async def remove(self, path: Path, *, recursive: bool = False) -> None:
        """See Session.remove."""
        await _threads.call(lambda: self._session.remove(path, recursive=recursive))

    async def mark(self) -> None:
        """See Session.mark."""
        await _threads.call(self._session.mark)

    async def diff(self) -> list[Change]:
        """See Session.diff."""
        return await _threads.call(self._session.diff)

    async def commit(self) -> list[Change]:
        """See Session.commit."""
        return await _threads.call(self._session.commit)

    async def snapshot(self) -> Snapshot:
        """See Session.snapshot."""
        return await _threads.call(self._session.snapshot)

    def open_from(self, snapshot: Snapshot | str, **options: Any) -> _Opening[AsyncSession]:
        """See Session.open_from."""
        return _opening(lambda: self._session.open_from(snapshot, **options))

    async def reset_interpreter(self) -> None:
        """See Session.reset_interpreter."""
        await _threads.call(self._session.reset_interpreter)

    async def info(self) -> SessionInfo:
        """See Session.info."""
        return await _threads.call(self._session.info)

    async def usage(self) -> Usage:
        """See Session.usage."""
        return await _threads.call(self._session.usage)

    async def renew(self) -> None:
        """See Session.renew."""
        await _threads.call(self._session.renew)

    # The last one: in the class body its name is not that of the type any more.
    async def list(self, path: Path = "") -> list[FileInfo]:
        """See Session.list."""
        return await _threads.call(lambda: self._session.list(path))


class AsyncClient:
    """See Client, of which it has the arguments."""

    def __init__(self, url: str, token: str | None = None, **options: Any):
        self._client = Client(url, token, **options)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._client.close()

    async def close(self) -> None:
        """See Client.close."""
        self._client.close()

    async def health(self) -> Health:
        """See Client.health."""
        return await _threads.call(self._client.health)

    def session(self, **options: Any) -> _Opening[AsyncSession]:
        """See Client.session. Use "async with client.session()", or await it and close the session."""
        return _opening(lambda: self._client.session(**options))

    def open_from(self, snapshot: Snapshot | str, **options: Any) -> _Opening[AsyncSession]:
        """See Client.open_from."""
        return _opening(lambda: self._client.open_from(snapshot, **options))

    def attach(self, reference: dict[str, Any] | str) -> _Opening[AsyncSession]:
        """See Client.attach."""
        return _opening(lambda: self._client.attach(reference))

    async def sessions(self, *, all: bool = False) -> list[SessionInfo]:  # noqa: A002
        """See Client.sessions."""
        return await _threads.call(lambda: self._client.sessions(all=all))

    async def snapshots(self) -> list[Snapshot]:
        """See Client.snapshots."""
        return await _threads.call(self._client.snapshots)

    async def remove_snapshot(self, snapshot: Snapshot | str) -> None:
        """See Client.remove_snapshot."""
        await _threads.call(lambda: self._client.remove_snapshot(snapshot))

    async def get_snapshot(self, snapshot: Snapshot | str, destination: _transfer.Source) -> int:
        """See Client.get_snapshot."""
        return await _threads.call(lambda: self._client.get_snapshot(snapshot, destination))

    async def put_snapshot(self, source: _transfer.Source, *, limit_bytes: int = 0) -> Snapshot:
        """See Client.put_snapshot."""
        return await _threads.call(lambda: self._client.put_snapshot(source, limit_bytes=limit_bytes))


def _opening(opening: Callable[[], Session]) -> _Opening[AsyncSession]:
    async def opened() -> AsyncSession:
        # It is not broken off: then nobody would close what the server may have opened.
        return AsyncSession(await _threads.call(opening, abort=False, discard=Session.close))

    return _Opening(opened)
