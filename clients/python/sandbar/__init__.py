"""A client of sandbox-server: runs scripts in sessions, with files and limits.

    import sandbar

    with sandbar.Client("http://127.0.0.1:8080") as client, client.session() as session:
        print(session.run_code("print(2 + 2)"))

AsyncClient is the same for asyncio. All errors are subclasses of SandbarError. All times are in seconds, all sizes in
bytes.
"""

from ._values import NO_TIMEOUT
from .aio import AsyncClient, AsyncProcess, AsyncSession
from .client import Client
from .errors import (
    Busy,
    Closed,
    CommitError,
    ConflictError,
    DeadlineError,
    Denied,
    Draining,
    Escapes,
    ExitError,
    InvalidError,
    IsDirectory,
    LimitError,
    Lost,
    NeedsNativeError,
    NoMark,
    NoSpace,
    NotAvailable,
    NotDirectory,
    NotEnforceable,
    NotExist,
    NotFound,
    NotRegular,
    NotStarted,
    ProtocolError,
    SandbarError,
    SnapshotError,
    StdinClosed,
    TooLargeError,
    Unauthenticated,
    Unavailable,
)
from .process import Process
from .session import Session
from .types import (
    Change,
    FileInfo,
    Health,
    Limits,
    Output,
    Result,
    RunInfo,
    SessionInfo,
    Snapshot,
    TextOutput,
    TierInfo,
    Usage,
)

__version__ = "0.1.0"

__all__ = [
    "NO_TIMEOUT",
    "AsyncClient",
    "AsyncProcess",
    "AsyncSession",
    "Busy",
    "Change",
    "Client",
    "Closed",
    "CommitError",
    "ConflictError",
    "DeadlineError",
    "Denied",
    "Draining",
    "Escapes",
    "ExitError",
    "FileInfo",
    "Health",
    "InvalidError",
    "IsDirectory",
    "LimitError",
    "Limits",
    "Lost",
    "NeedsNativeError",
    "NoMark",
    "NoSpace",
    "NotAvailable",
    "NotDirectory",
    "NotEnforceable",
    "NotExist",
    "NotFound",
    "NotRegular",
    "NotStarted",
    "Output",
    "Process",
    "ProtocolError",
    "Result",
    "RunInfo",
    "SandbarError",
    "Session",
    "SessionInfo",
    "Snapshot",
    "SnapshotError",
    "StdinClosed",
    "TextOutput",
    "TierInfo",
    "TooLargeError",
    "Unauthenticated",
    "Unavailable",
    "Usage",
]
