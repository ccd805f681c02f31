"""The errors of the session contract, one class for each kind.

An error says that a call did not do what it was asked. What a script itself did wrong is no error: it is in the
Result. All classes are subclasses of SandbarError. An error of the server can be of several kinds at once ("not
started" because "not available"): it is then an instance of each of their classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .types import Change, Result


class SandbarError(Exception):
    """Any error of this package.

    code is the server's Connect code ("invalid_argument", ...), or None for an error that the server did not send.
    kinds are the kinds of the session contract in lower case ("not_started", "not_available"), often one.
    """

    _defaults: dict[str, Any] = {}

    def __init__(self, message: str = "", *, code: str | None = None, kinds: tuple[str, ...] = (), **fields: Any):
        super().__init__(message)
        self.message = message
        self.code = code
        self.kinds = kinds
        for base in reversed(type(self).__mro__):
            for name, value in base.__dict__.get("_defaults", {}).items():
                setattr(self, name, value)
        for name, value in fields.items():
            setattr(self, name, value)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.kinds, type(self) if self.kinds == () else None, self.__dict__.copy())


def _rebuild(kinds: tuple[str, ...], cls: type[SandbarError] | None, state: dict[str, Any]) -> SandbarError:
    error = (cls or class_of(kinds))(state["message"])
    error.__dict__.update(state)
    return error


class InvalidError(SandbarError, ValueError):
    """An option, argument or path is not usable as given: field names it, problem says what is wrong with it.
    Nothing was started or written. The server's names for fields are those of the Go library ("Timeout")."""

    _defaults = {"field": "", "problem": ""}
    field: str
    problem: str

    @classmethod
    def of(cls, field: str, problem: str) -> InvalidError:
        """Makes the error for an argument that was not sent."""
        return cls(f"{field}: {problem}", kinds=("invalid",), field=field, problem=problem)


class NotAvailable(SandbarError):
    """The tier or backend cannot run on the server's host. Nothing is retried with less isolation."""


class NotEnforceable(SandbarError):
    """A limit that was asked for cannot be enforced on the server's host."""


class Closed(SandbarError):
    """The session, the process or the client was closed before or during the call."""


class NotStarted(SandbarError):
    """The run never began. There is no exit code."""


class Lost(SandbarError):
    """The run's end could not be learned: its stream ended without it, or was silent for longer than three
    heartbeats. There is no exit code. stdout and stderr are what is there of its output, for communicate and exec."""

    _defaults = {"stdout": b"", "stderr": b""}
    stdout: bytes
    stderr: bytes


class TooLargeError(SandbarError):
    """The content is larger than the maximum. size is what there is (at least max + 1 where the whole is not known),
    max what was allowed, both in bytes."""

    _defaults = {"path": "", "size": 0, "max": 0}
    path: str
    size: int
    max: int


class NoSpace(SandbarError):
    """The session's disk limit is reached, or the host's disk is full."""


class NotExist(SandbarError, FileNotFoundError):
    """There is no file of that name in the work directory."""


class IsDirectory(SandbarError, IsADirectoryError):
    """The path names a directory where a file is needed."""


class NotDirectory(SandbarError, NotADirectoryError):
    """The path, or a parent of it, is not a directory where one is needed."""


class NotRegular(SandbarError):
    """The path names a FIFO, socket or device. It was not opened."""


class Escapes(SandbarError):
    """The path, or a link in it, leads out of the work directory."""


class NeedsNativeError(SandbarError):
    """The script needs what only the native tier has, and was to run in the wasm tier. Nothing of it was executed.
    module is what it imports or uses (imported tells which), line is where, reason is why it cannot be."""

    _defaults = {"module": "", "imported": False, "line": 0, "reason": ""}
    module: str
    imported: bool
    line: int
    reason: str


class SnapshotError(SandbarError):
    """This is no snapshot, a damaged one, or one of another version."""


class NoMark(SandbarError):
    """The session has a work directory that was given, and no mark since when diff could list changes."""


class Busy(SandbarError):
    """The call cannot be done as things are now: commit while runs are under way, a run while commit is."""


class ConflictError(SandbarError):
    """Commit found that the host's directory was changed as well, at paths: at most 1,000 of them."""

    _defaults = {"paths": ()}
    paths: tuple[bytes, ...]


class NotFound(SandbarError):
    """There is no such session, run or snapshot, or it is somebody else's. A file that is not there is NotExist."""


class LimitError(SandbarError):
    """The server, or (of_principal) the principal, has as much as it may: what says of what ("sessions", "runs",
    "queue", "snapshots"), max how many that are."""

    _defaults = {"what": "", "max": 0, "of_principal": False}
    what: str
    max: int
    of_principal: bool


class Denied(SandbarError):
    """The principal's policy does not allow it."""


class Unauthenticated(SandbarError):
    """There are no credentials, or wrong ones."""


class Unavailable(SandbarError):
    """The server cannot be reached, or sends calls away for now. The call was not done, unless sent is set: the
    connection broke after the call was sent, and it is not known."""

    _defaults = {"sent": False}
    sent: bool


class Draining(Unavailable):
    """The server is about to end, and takes no new sessions and runs."""


class DeadlineError(SandbarError, TimeoutError):
    """The answer, or the end of the run for wait, did not come within the time that the call was given."""


class ProtocolError(SandbarError):
    """The answer is not one of a sandbox-server."""


class StdinClosed(SandbarError, BrokenPipeError):
    """The run has ended, or its stdin was closed."""


class ExitError(SandbarError):
    """run_code's script did not end with exit code 0. result says how it ended, stdout and stderr are its output."""

    _defaults = {"result": None, "stdout": b"", "stderr": b""}
    result: Result
    stdout: bytes
    stderr: bytes


class CommitError(SandbarError):
    """What commit raises when it has already applied some changes: applied. The cause is in __cause__."""

    _defaults = {"applied": ()}
    applied: tuple[Change, ...]


KINDS: dict[int, tuple[str, type[SandbarError]]] = {
    1: ("invalid", InvalidError),
    2: ("not_available", NotAvailable),
    3: ("not_enforceable", NotEnforceable),
    4: ("closed", Closed),
    5: ("not_started", NotStarted),
    6: ("lost", Lost),
    7: ("too_large", TooLargeError),
    8: ("no_space", NoSpace),
    9: ("not_exist", NotExist),
    10: ("is_directory", IsDirectory),
    11: ("not_directory", NotDirectory),
    12: ("not_regular", NotRegular),
    13: ("escapes", Escapes),
    14: ("needs_native", NeedsNativeError),
    15: ("snapshot", SnapshotError),
    16: ("no_mark", NoMark),
    17: ("busy", Busy),
    18: ("conflict", ConflictError),
    19: ("no_session", NotFound),
    20: ("limit", LimitError),
    21: ("denied", Denied),
    22: ("unauthenticated", Unauthenticated),
    23: ("draining", Draining),
}
"""The numbers of ErrorKind in the protocol."""

_BY_NAME = dict(KINDS.values())
_combined: dict[tuple[type[SandbarError], ...], type[SandbarError]] = {}


def class_of(kinds: tuple[str, ...]) -> type[SandbarError]:
    """The class of an error that is of all these kinds. Names that are not known do not count."""
    classes = tuple(dict.fromkeys(_BY_NAME[kind] for kind in kinds if kind in _BY_NAME))
    if not classes:
        return SandbarError
    if len(classes) == 1:
        return classes[0]
    if classes not in _combined:
        _combined[classes] = type("And".join(cls.__name__ for cls in classes), classes, {"__doc__": "Of several kinds."})
    return _combined[classes]
