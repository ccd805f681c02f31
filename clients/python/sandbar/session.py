"""A session: a work directory, a policy, limits, and any number of runs."""

from __future__ import annotations

import io
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _answers, _lease, _requests, _transfer
from . import _values as v
from ._texts import check_exit
from .errors import Closed, CommitError, InvalidError, NotFound, SandbarError
from .process import DEFAULT_KEPT, Process
from .types import Change, FileInfo, Output, RunInfo, SessionInfo, Snapshot, Usage

if TYPE_CHECKING:
    from .client import Client

DEFAULT_GET = 16 << 20
"""The largest file that get_bytes returns unless it is told otherwise, in bytes."""
_UNARY = 1 << 20

Path = str | bytes | os.PathLike[Any]
Variables = Mapping[Any, Any]


class Session:
    """A session on the server. Its methods are safe for use by several threads.

    Client.session opens it and owns it: close ends it. Client.attach gives one that somebody else owns: close ends the
    local side alone. A thread renews the lease meanwhile, since a server closes sessions that are not used.

    Paths are relative to the work directory, or absolute and inside it, as str or bytes: names are bytes.
    Errors of all calls: Closed after close; NotFound when the server has closed it; Unavailable and DeadlineError when
    there is no answer.
    """

    def __init__(self, client: Client, answer: v.Json, *, owner: bool, kept: int = 0):
        """Is for Client."""
        self._client = client
        self._transport = client._transport
        self._owner = owner
        self._kept = kept
        self._first = _answers.session_info(answer)
        self._created_at = v.string(answer.get("createdAt"))
        self._closing = threading.Lock()
        self._closed = False
        self.session_id = self._first.session_id
        """Unguessable: who has it and the credentials has the session."""
        self._lease = _lease.start(self._transport, self.session_id, self._first.idle_timeout)
        weakref.finalize(self, self._lease.set)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self.close()
        except SandbarError:
            if kind is None:
                raise

    def close(self) -> None:
        """Ends the session, with all its runs, and returns when nothing of it is left. One that was attached goes on. It
        may be called again, and does not mind a session that the server has closed."""
        with self._closing:
            self._lease.set()
            if self._closed:
                return
            if self._owner:
                try:
                    self._transport.unary("CloseSession", {"sessionId": self.session_id}, retry=True)
                except (NotFound, Closed):
                    pass
            self._closed = True

    def reference(self) -> dict[str, Any]:
        """What another program needs for Client.attach, besides credentials; it can be written as JSON."""
        return {
            "name": self.session_id,
            "endpoint": self._transport.endpoint.url,
            "created_at": self._created_at,
            "network_mode": self._first.network,
            "network_allowlist": list(self._first.network_allowlist),
        }

    # Runs.

    def run(
        self,
        script: v.Text,
        *,
        type: str = "python",  # noqa: A002 - the names are those of the contract
        name: str | None = None,
        args: Iterable[v.Text] = (),
        env: Variables | None = None,
        cwd: Path | None = None,
        timeout: float | None = None,
        stdin: v.Text | None = None,
        stdin_pipe: bool = False,
        background: bool = False,
        interpreter: str | None = None,
        network: str | None = None,
        terminal: tuple[int, int] | None = None,
        detach: bool = False,
        max_output_bytes: int | None = None,
    ) -> Process:
        """Starts a script, and returns when it has started.

        type: "python" or "shell". name: of the script's file, as tracebacks show it; "main.py" or "main.sh".
        args: what follows it in argv. env: added to the session's. cwd: the work directory.
        timeout: seconds after which the run is ended; None and 0: the session's; NO_TIMEOUT: none.
        stdin: all of it; None: end of file at once. stdin_pipe: write_stdin and communicate give it.
        background: the run lasts until the last process that the script has started has ended.
        interpreter: "fresh", or "session" for the live interpreter of the session, in the wasm tier.
        network: "blocked", "open" or "allowlist", and not more than the session has; None: what that has.
        terminal: (rows, cols) of a terminal as stdin and stdout, in the native tier.
        detach: the run goes on when this program goes away: see attach_run.
        max_output_bytes: what is kept of each stream that nobody iterates over; None and 0: the session's, else 8 MiB;
        negative: all.

        A timeout that is negative, NaN or infinite and the like is InvalidError, before anything is sent. Others:
        NotStarted, NotAvailable, NeedsNativeError, LimitError, Denied. Lost: the connection broke before the start was
        heard of. A run is never started twice.
        """
        self._check_open()
        message = _requests.run(
            self.session_id,
            script,
            type=type,
            name=name,
            args=args,
            env=env,
            cwd=None if cwd is None else v.to_bytes("cwd", cwd),
            timeout=timeout,
            stdin=stdin,
            stdin_pipe=stdin_pipe,
            background=background,
            interpreter=interpreter,
            network=network,
            terminal=terminal,
            detach=detach,
            max_output_bytes=max_output_bytes,
        )
        return self._start(message, stream=True)

    def exec(self, script: v.Text, **options: Any) -> Output:
        """Runs a script to its end. Options are those of run, without stdin_pipe. Raises Lost, with what there is of the
        output, when its end is not known; how the script itself ended is in the result."""
        process = self._begin(script, options)
        try:
            return process.communicate()
        except BaseException:
            process.close()
            raise

    def run_code(self, code: v.Text, **options: Any) -> bytes:
        """Runs a script to its end and returns its stdout. Raises ExitError for another exit code than 0."""
        return check_exit(self.exec(code, **options))

    def attach_run(self, run_id: str, *, stdout_offset: int = 0, stderr_offset: int = 0) -> Process:
        """Follows a detached run, from an offset of each stream (in bytes) on. What the server no longer has is skipped:
        Process.stdout_skipped and stderr_skipped count it."""
        self._check_open()
        message: v.Json = {"sessionId": self.session_id, "runId": run_id}
        for key, field, at in (
            ("stdoutOffset", "stdout_offset", stdout_offset),
            ("stderrOffset", "stderr_offset", stderr_offset),
        ):
            message[key] = _requests.whole(field, at)
        process = Process(self._transport, self.session_id, self._limit(0), stdin_pipe=False, detached=True)
        process._begin("AttachRun", message, self._client._heartbeat)
        return process

    def runs(self) -> list[RunInfo]:
        """The runs that are under way, and the last hundred that have ended, the oldest first."""
        answer = self._call("ListRuns", retry=True)
        return [_answers.run_info(run) for run in v.objects(answer.get("runs"))]

    def _begin(self, script: v.Text, options: dict[str, Any]) -> Process:
        """Starts a script whose output is wanted at its end."""
        if options.get("stdin_pipe"):
            raise InvalidError.of("stdin_pipe", "is for run: nobody would write to it")
        self._check_open()
        message = _requests.run(self.session_id, script, **self._with_defaults(options))
        return self._start(message, stream=False)

    def _with_defaults(self, options: dict[str, Any]) -> dict[str, Any]:
        unknown = options.keys() - _DEFAULTS.keys()
        if unknown:
            raise TypeError(f"unexpected keyword arguments: {', '.join(sorted(unknown))}")
        if options.get("cwd") is not None:
            options["cwd"] = v.to_bytes("cwd", options["cwd"])
        return _DEFAULTS | options

    def _start(self, message: v.Json, *, stream: bool) -> Process:
        if stream:
            message["streamOutput"] = True
        limit = self._limit(int(message.get("maxOutputBytes", 0)))
        process = Process(
            self._transport,
            self.session_id,
            limit,
            stdin_pipe=bool(message.get("stdinPipe")),
            detached=bool(message.get("detach")),
        )
        process._begin("Run", message, self._client._heartbeat)
        return process

    def _limit(self, asked: int) -> int | None:
        limit = asked or self._kept or DEFAULT_KEPT
        return limit if limit > 0 else None

    # Files.

    def put_bytes(self, path: Path, data: bytes, *, mode: int = 0) -> None:
        """Makes data the content of a file, which appears at once and complete. Parents are made. mode: permission bits;
        0: 0o644. Raises Escapes, IsDirectory, NotRegular, NoSpace."""
        header = self._file(path) | ({"mode": mode} if mode else {})
        if len(data) <= _UNARY:
            self._call("PutBytes", header | {"data": v.encode(data)})
        else:
            self._put(header, _transfer.cut(data))

    def get_bytes(self, path: Path, *, max_bytes: int | None = None) -> bytes:
        """The content of a regular file, of at most max_bytes (None: 16 MiB): a larger one is TooLargeError, which has
        both sizes, and nothing of it is sent. Raises NotExist, IsDirectory, NotRegular, Escapes."""
        most = DEFAULT_GET if max_bytes is None else max_bytes
        request = self._file(path) | {"maxBytes": _requests.whole("max_bytes", most)}
        if most <= _UNARY:
            return v.decode(self._call("GetBytes", request, retry=True).get("data"))
        data = io.BytesIO()
        _transfer.save(self._get(request), data, most)
        return data.getvalue()

    def put_file(self, path: Path, source: _transfer.Source, *, mode: int = 0) -> None:
        """Is put_bytes for a file of this machine, of any size: its path, or a binary file that is read from where it
        stands. When reading it fails, the session's file stays as it was."""
        header = self._file(path) | ({"mode": mode} if mode else {})
        with _transfer.opened(source) as file:
            self._put(header, _transfer.pieces(file))

    def get_file(self, path: Path, destination: _transfer.Source, *, max_bytes: int | None = None) -> int:
        """Writes the content of a regular file of any size to one of this machine, and returns how many bytes that were.
        destination: a path, under which it appears complete or not at all, or a binary file. max_bytes: None: no
        maximum. Errors are those of get_bytes, and OSError of this machine."""
        request = self._file(path)
        if max_bytes is not None:
            request["maxBytes"] = _requests.whole("max_bytes", max_bytes)
        return _transfer.save(self._get(request), destination, max_bytes)

    def list(self, path: Path = "") -> list[FileInfo]:
        """The entries of a directory, sorted by name. Links among them are not followed."""
        request, files, token = self._file(path), [], None
        while True:
            answer = self._call("ListFiles", request | ({"pageToken": token} if token else {}), retry=True)
            files += [_answers.file_info(file) for file in v.objects(answer.get("files"))]
            last, token = token, v.string(answer.get("nextPageToken"))
            if not token or token == last:
                return files

    def stat(self, path: Path) -> FileInfo:
        """Describes a file, or what a link to it leads to. Raises NotExist."""
        answer = self._call("StatFile", self._file(path), retry=True)
        return _answers.file_info(v.obj(answer.get("file")))

    def remove(self, path: Path, *, recursive: bool = False) -> None:
        """Removes a file, an empty directory or a link. recursive: also a directory with all that is in it, and nothing of
        that name is no error."""
        self._call("RemoveFile", self._file(path) | ({"recursive": True} if recursive else {}))

    def _file(self, path: Path) -> v.Json:
        request: v.Json = {}
        v.put_text(request, "path", path, "path")
        return request

    def _put(self, header: v.Json, content: Iterator[bytes]) -> None:
        self._check_open()
        header = {"sessionId": self.session_id} | header
        _transfer.put(self._transport, "PutFile", {"header": header}, content)

    def _get(self, request: v.Json) -> Iterator[bytes]:
        self._check_open()
        return _transfer.get(self._transport, "GetFile", {"sessionId": self.session_id} | request)

    # Changes.

    def mark(self) -> None:
        """Makes what the work directory has now what diff compares with."""
        self._call("MarkFiles", slow=True)

    def diff(self) -> list[Change]:
        """What was added, changed and removed since the session was opened or marked, sorted by path. Raises NoMark."""
        return list(self._changes("DiffFiles"))

    def commit(self) -> list[Change]:
        """Applies the changes to the directory over which the session lies (the option overlay), and lists them. Raises
        Busy while runs are under way, and ConflictError. When some were applied before an error, that is CommitError,
        which has them, and the error as its cause."""
        applied: list[Change] = []
        try:
            for change in self._changes("CommitFiles"):
                applied.append(change)
        except SandbarError as error:
            if not applied:
                raise
            message = f"commit: {len(applied)} changes were applied before: {error}"
            raise CommitError(message, code=error.code, applied=tuple(applied)) from error
        return applied

    def _changes(self, method: str) -> Iterator[Change]:
        self._check_open()
        request = {"sessionId": self.session_id}
        for message in self._transport.server_stream(method, request, self._transport.timeout(slow=True)):
            for change in v.objects(message.get("changes")):
                yield _answers.change(change)

    # The session itself.

    def snapshot(self) -> Snapshot:
        """Copies the session as it is: its live interpreter and its files. Client.open_from opens sessions on it. Raises
        Busy for an interpreter that holds open files."""
        return _answers.snapshot(v.obj(self._call("Snapshot", slow=True).get("snapshot")))

    def open_from(self, snapshot: Snapshot | str, **options: Any) -> Session:
        """Is Client.open_from."""
        self._check_open()
        return self._client.open_from(snapshot, **options)

    def reset_interpreter(self) -> None:
        """Ends the live interpreter of the session, when the run that has it has ended."""
        self._call("ResetInterpreter", slow=True)

    def info(self) -> SessionInfo:
        """What the session has, and what is enforced in it."""
        return _answers.session_info(self._describe())

    def usage(self) -> Usage:
        """What its runs took together."""
        return _answers.usage(v.obj(self._describe().get("usage")))

    def renew(self) -> None:
        """Says that the session is still wanted: its idle time begins anew. A thread does that as well."""
        self._call("RenewSession", retry=True)

    def _describe(self) -> v.Json:
        return v.obj(self._call("GetSession", retry=True).get("session"))

    def _call(self, method: str, fields: v.Json | None = None, *, retry: bool = False, slow: bool = False) -> v.Json:
        self._check_open()
        request = {"sessionId": self.session_id} | (fields or {})
        return self._transport.unary(method, request, retry=retry, slow=slow)

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("session closed", kinds=("closed",))


_DEFAULTS: dict[str, Any] = dict(Session.run.__kwdefaults__ or {})
