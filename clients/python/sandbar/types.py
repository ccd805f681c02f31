"""What calls take and give. All times are in seconds, all sizes in bytes. None stands for a figure that was not
measured: none is 0 for want of a measurement."""

from __future__ import annotations

import dataclasses
import datetime


@dataclasses.dataclass(frozen=True)
class Limits:
    """Bound each run, except disk_bytes and disk_files, which bound the work directory. 0 is the default."""

    memory_bytes: int = 0
    """0: 512 MiB. The wasm tier needs 64 MiB at least."""
    cpu: float = 0
    """Seconds of processor time. 0: no limit."""
    output_bytes: int = 0
    """Bytes of stdout and stderr together, after which a run is stopped. 0: no limit."""
    open_files: int = 0
    """0: 256."""
    file_size_bytes: int = 0
    """What a file may grow to. 0: no limit."""
    tmp_bytes: int = 0
    """0: 64 MiB in /tmp."""
    tmp_files: int = 0
    """0: 4096 files and directories in /tmp."""
    disk_bytes: int = 0
    """All files in the work directory. 0: no limit."""
    disk_files: int = 0
    """Files and directories in the work directory. 0: no limit."""
    processes: int = 0
    """Processes and threads. 0: 256."""


@dataclasses.dataclass(frozen=True)
class Result:
    """What is known of a run that has ended."""

    exit_code: int | None
    """The script's; 128+n for death by signal n; 124 for a timeout; 137 for cancelled, output and memory."""
    signal: int
    """The number of the signal that ended the run, or 0."""
    reason: str
    """exited, signaled, timeout, cancelled, memory, output, cpu or denied."""
    tier: str
    """wasm or native."""
    backend: str
    """How the native tier isolated the run; empty in the wasm tier."""
    route: str
    """Why the run went to this tier."""
    advice: str
    """A line about a limit of the tier that the script met; usually empty."""
    wall_time: float | None
    cpu_time: float | None
    peak_memory_bytes: int | None
    stdout_bytes: int
    """What the script wrote, whether it was kept or not."""
    stderr_bytes: int
    truncated: bool
    """Output was dropped, from either stream."""
    value: str
    """The repr of the last expression of a run in the live interpreter."""
    interpreter_lost: bool
    """The run has ended the live interpreter."""


@dataclasses.dataclass(frozen=True)
class Output:
    """What a run wrote, byte for byte, and how it ended. A stream that was iterated over is empty here."""

    stdout: bytes
    stderr: bytes
    result: Result


@dataclasses.dataclass(frozen=True)
class TextOutput:
    """An Output as text. What is not UTF-8 is replaced by U+FFFD."""

    stdout: str
    stderr: str
    result: Result


@dataclasses.dataclass(frozen=True)
class FileInfo:
    """A file in the work directory."""

    name: str
    """The last element of the path. Bytes that are not UTF-8 are surrogates, as os.fsdecode makes them: every call takes
    them back."""
    size: int
    type: str
    """regular, directory, symlink, fifo, socket, char_device or block_device."""
    mode: int
    """The permission bits, with those for sticky (0o1000), set-group-ID (0o2000) and set-user-ID (0o4000)."""
    modified_at: datetime.datetime | None

    @property
    def name_bytes(self) -> bytes:
        """The name as it is."""
        return self.name.encode("utf-8", "surrogateescape")

    @property
    def is_dir(self) -> bool:
        return self.type == "directory"


@dataclasses.dataclass(frozen=True)
class Change:
    """One path of the work directory that is not as it was. A script chose the names: treat them as hostile."""

    path: str
    """As FileInfo.name."""
    kind: str
    """added, changed or removed."""
    type: str
    """As FileInfo.type; empty: there is nothing now. old_type: there was nothing."""
    old_type: str
    mode: int
    old_mode: int
    size: int
    old_size: int
    sha256: str
    """Of a regular file's content, in lower-case hexadecimal; empty for all else."""
    target: str
    """Where a link leads."""
    unread: bool
    """A directory that may not be read."""

    @property
    def path_bytes(self) -> bytes:
        """The path as it is."""
        return self.path.encode("utf-8", "surrogateescape")


@dataclasses.dataclass(frozen=True)
class TierInfo:
    """A tier on the server's host."""

    tier: str
    backend: str
    versions: dict[str, str]
    enforced: dict[str, str]
    """What isolates a run, and with what strength."""
    unenforced: tuple[str, ...]
    """Names of limits that cannot be enforced there."""
    unmeasured: tuple[str, ...]
    """Names of figures of Result that cannot be measured there."""
    warnings: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class SessionInfo:
    """What a session has, and what is enforced in it."""

    session_id: str
    label: str
    principal: str
    created_at: datetime.datetime | None
    idle_at: datetime.datetime | None
    """When the server closes it if it is not used before."""
    expires_at: datetime.datetime | None
    """When the server closes it in any case. None: never."""
    idle_timeout: float | None
    backend: str
    """How native runs are isolated."""
    limits: Limits
    """Those in force."""
    network: str
    """blocked, open or allowlist."""
    network_allowlist: tuple[str, ...]
    tiers: tuple[TierInfo, ...]
    unenforced: tuple[tuple[str, str], ...]
    """Limits that were asked for and do not hold: the tier, and the limit's name."""
    warnings: tuple[str, ...]
    """About isolation that is loosened."""
    overlay: str
    overlay_kind: str


@dataclasses.dataclass(frozen=True)
class Usage:
    """What the runs of a session took together."""

    runs: int
    running: int
    wall_time: float
    cpu_time: float | None
    peak_memory_bytes: int | None
    stdout_bytes: int
    stderr_bytes: int
    by_tier: dict[str, int]
    by_reason: dict[str, int]
    unmeasured: dict[str, int]
    """By the name of the figure, the runs in which it was not measured."""


@dataclasses.dataclass(frozen=True)
class RunInfo:
    """A run of a session. result is None while it is under way."""

    run_id: str
    type: str
    name: str
    tier: str
    backend: str
    route: str
    started_at: datetime.datetime | None
    detached: bool
    result: Result | None


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """A copy of a session that stays with the server, until it is removed or not used for as long as a session may be."""

    snapshot_id: str
    memory_bytes: int
    """Of the interpreter's memory. 0: there was none."""
    created_at: datetime.datetime | None
    idle_at: datetime.datetime | None


@dataclasses.dataclass(frozen=True)
class Health:
    """What a server says of itself, and less of it without credentials."""

    version: str
    default_backend: str
    backends: tuple[str, ...]
    draining: bool
