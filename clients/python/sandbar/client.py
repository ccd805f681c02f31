"""A sandbox-server, as this program sees it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from . import _answers, _requests, _transfer
from . import _values as v
from ._endpoint import Endpoint
from ._transport import Transport
from .errors import InvalidError
from .session import Session, Variables
from .types import Health, Limits, SessionInfo, Snapshot


class Client:
    """Makes calls to a sandbox-server. It is safe for use by several threads.

    url: http://host:port, https://host:port or unix:///path/of/socket. token: the bearer token; over http:// it travels
    in the clear. ca_file: PEM certificates that vouch for the server, instead of the system's. cert_file and key_file:
    the client's own certificate. timeout: seconds to wait for the answer to a call that is not a run; None: 60, and 600
    for those that go over all files of a session. heartbeat: seconds, at least 1; a run whose stream is silent for three
    of them is Lost.

    Nothing is sent before the first call. Calls that change nothing are made again, with pauses, when the server refuses
    the connection or answers 503; runs never are.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        ca_file: str | None = None,
        cert_file: str | None = None,
        key_file: str | None = None,
        timeout: float | None = None,
        heartbeat: float = 15.0,
    ):
        if timeout is not None and v.check_seconds("timeout", timeout) == 0:
            timeout = None
        if v.check_seconds("heartbeat", heartbeat) < 1 or heartbeat > 86400:
            raise InvalidError.of("heartbeat", "is not between 1 s and a day")
        self._heartbeat = heartbeat
        self._transport = Transport(Endpoint(url, ca_file, cert_file, key_file), token, timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes idle connections, and refuses new calls. Sessions are left as they are: close them before."""
        self._transport.close()

    def health(self) -> Health:
        """Whether the server answers, and what it is. It needs no credentials, and says little without them."""
        return _answers.health(self._transport.unary("Health", {}, retry=True))

    def session(
        self,
        *,
        backend: str | None = None,
        work_dir: str | None = None,
        overlay: str | None = None,
        read_only: Iterable[str | os.PathLike[str]] = (),
        read_write: Iterable[str | os.PathLike[str]] = (),
        network: str | None = None,
        python_tier: str | None = None,
        warm: str | None = None,
        gpu: bool = False,
        venv: bool = False,
        env: Variables | None = None,
        timeout: float | None = None,
        limits: Limits | None = None,
        best_effort: bool = False,
        max_output_bytes: int | None = None,
        idle_timeout: float | None = None,
        lifetime: float | None = None,
        label: str | None = None,
    ) -> Session:
        """Opens a session. Use it as a context manager, or close it.

        backend: how the native tier isolates, "bubblewrap", "userns" or "none"; None: the server's default.
        work_dir, overlay, read_only, read_write: directories of the server's host, where its policy allows them: the work
        directory, one over which the session lies, and what scripts see at the same path.
        network: "blocked" (the default), "open" or "allowlist": the most that a run may have.
        python_tier: "wasm", "native" or "auto" (the default): the script decides.
        warm: Python source that is run once, before the first Python run. gpu: NVIDIA devices for native runs. venv: a
        virtual environment of the session's own, for native runs. env: variables of every run.
        timeout: seconds, for runs that give none; None and 0: 60 s; NO_TIMEOUT: none. limits: None: the defaults.
        best_effort: accept limits that cannot be enforced: Session.info tells which.
        max_output_bytes: what is kept of each stream of a run; None and 0: 8 MiB; negative: all.
        idle_timeout: seconds without use after which the server closes the session, and lifetime: seconds after which it
        does so in any case; None and 0: what the server has. label: a name for people, of at most 128 bytes.

        Raises InvalidError, Denied, Unauthenticated, LimitError, NotAvailable, NotEnforceable, Draining, Unavailable.
        """
        request = _requests.session_options(
            backend=backend,
            work_dir=work_dir,
            overlay=overlay,
            read_only=read_only,
            read_write=read_write,
            network=network,
            python_tier=python_tier,
            warm=warm,
            gpu=gpu,
            venv=venv,
            env=env,
            timeout=timeout,
            limits=limits,
            best_effort=best_effort,
            max_output_bytes=max_output_bytes,
            idle_timeout=idle_timeout,
            lifetime=lifetime,
            label=label,
        )
        return self._open("OpenSession", request, max_output_bytes)

    def open_from(self, snapshot: Snapshot | str, **options: Any) -> Session:
        """Opens a session on a snapshot (or its id). Options are those of session, without work_dir, overlay and warm.
        Raises NotFound for a snapshot that is not there, and what session raises."""
        request = _requests.session_options(**options) | {"snapshotId": _snapshot_id(snapshot)}
        return self._open("OpenFrom", request, options.get("max_output_bytes"))

    def _open(self, method: str, request: v.Json, kept: int | None) -> Session:
        answer = self._transport.unary(method, request, slow=True)
        return Session(self, v.obj(answer.get("session")), owner=True, kept=kept or 0)

    def attach(self, reference: dict[str, Any] | str) -> Session:
        """Gives a session that somebody else has opened with the same credentials, by its Session.reference (or that as
        JSON). Its close ends the local side alone. The session is looked for on this client's server, whatever endpoint
        the reference has: credentials go nowhere else. Raises NotFound."""
        if isinstance(reference, str):
            try:
                reference = json.loads(reference)
            except ValueError as cause:
                raise InvalidError.of("reference", "is not JSON") from cause
        name = reference.get("name") if isinstance(reference, dict) else None
        if not isinstance(name, str) or not name:
            raise InvalidError.of("reference", "has no name")
        answer = self._transport.unary("GetSession", {"sessionId": name}, retry=True)
        return Session(self, v.obj(answer.get("session")), owner=False)

    def sessions(self, *, all: bool = False) -> list[SessionInfo]:  # noqa: A002 - the name of the protocol
        """The principal's sessions, the oldest first, without what is enforced in them. all: those of all principals, for
        administrators."""
        answer = self._transport.unary("ListSessions", {"all": True} if all else {}, retry=True)
        return [_answers.session_info(session) for session in v.objects(answer.get("sessions"))]

    def snapshots(self) -> list[Snapshot]:
        """The principal's snapshots, the oldest first."""
        answer = self._transport.unary("ListSnapshots", {}, retry=True)
        return [_answers.snapshot(snapshot) for snapshot in v.objects(answer.get("snapshots"))]

    def remove_snapshot(self, snapshot: Snapshot | str) -> None:
        """Removes a snapshot. Sessions that were opened from it go on."""
        self._transport.unary("RemoveSnapshot", {"snapshotId": _snapshot_id(snapshot)})

    def get_snapshot(self, snapshot: Snapshot | str, destination: _transfer.Source) -> int:
        """Writes a snapshot to a file of this machine (a path, or a binary file), and returns its size in bytes. What
        scripts had in their variables and files is in it, secrets too."""
        request = {"snapshotId": _snapshot_id(snapshot)}
        return _transfer.save(_transfer.get(self._transport, "GetSnapshot", request), destination)

    def put_snapshot(self, source: _transfer.Source, *, limit_bytes: int = 0) -> Snapshot:
        """Gives such a file to the server. limit_bytes: the most that it may unpack to; 0: the server's maximum. Raises
        SnapshotError for what is none."""
        header = {"limitBytes": _requests.whole("limit_bytes", limit_bytes)}
        with _transfer.opened(source) as file:
            answer = _transfer.put(self._transport, "PutSnapshot", header, _transfer.pieces(file))
        return _answers.snapshot(v.obj(answer.get("snapshot")))


def _snapshot_id(snapshot: Snapshot | str) -> str:
    return snapshot.snapshot_id if isinstance(snapshot, Snapshot) else snapshot
