"""From the messages of the protocol to the types of this package."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _values as v
from .types import Change, FileInfo, Health, Limits, Result, RunInfo, SessionInfo, Snapshot, TierInfo, Usage


def result(m: v.Json) -> Result:
    return Result(
        exit_code=v.optional_integer(m.get("exitCode")),
        signal=v.integer(m.get("signal")),
        reason=v.name(m.get("reason"), "REASON_"),
        tier=v.name(m.get("tier"), "TIER_"),
        backend=v.string(m.get("backend")),
        route=v.string(m.get("route")),
        advice=v.string(m.get("advice")),
        wall_time=v.seconds(m.get("wallTime")),
        cpu_time=v.seconds(m.get("cpuTime")),
        peak_memory_bytes=v.optional_integer(m.get("peakMemoryBytes")),
        stdout_bytes=v.integer(m.get("stdoutBytes")),
        stderr_bytes=v.integer(m.get("stderrBytes")),
        truncated=bool(m.get("truncated")),
        value=v.string(m.get("value")),
        interpreter_lost=bool(m.get("interpreterLost")),
    )


def file_info(m: v.Json) -> FileInfo:
    return FileInfo(
        name=v.get_text(m, "name"),
        size=v.integer(m.get("sizeBytes")),
        type=v.name(m.get("type"), "FILE_TYPE_"),
        mode=v.integer(m.get("mode")),
        modified_at=v.timestamp(m.get("modifiedAt")),
    )


def change(m: v.Json) -> Change:
    return Change(
        path=v.get_text(m, "path"),
        kind=v.name(m.get("kind"), "CHANGE_KIND_"),
        type=v.name(m.get("type"), "FILE_TYPE_"),
        old_type=v.name(m.get("oldType"), "FILE_TYPE_"),
        mode=v.integer(m.get("mode")),
        old_mode=v.integer(m.get("oldMode")),
        size=v.integer(m.get("sizeBytes")),
        old_size=v.integer(m.get("oldSizeBytes")),
        sha256=v.string(m.get("sha256")),
        target=v.get_text(m, "target"),
        unread=bool(m.get("unread")),
    )


def limits(m: v.Json) -> Limits:
    values: dict[str, Any] = {"cpu": v.seconds(m.get("cpu")) or 0}
    for field in dataclasses.fields(Limits):
        if field.name != "cpu":
            values[field.name] = v.integer(m.get(camel(field.name)))
    return Limits(**values)


def camel(name: str) -> str:
    """The name of a field in the protocol's JSON."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def tier_info(m: v.Json) -> TierInfo:
    return TierInfo(
        tier=v.name(m.get("tier"), "TIER_"),
        backend=v.string(m.get("backend")),
        versions={k: v.string(x) for k, x in v.obj(m.get("versions")).items()},
        enforced={k: v.string(x) for k, x in v.obj(m.get("enforced")).items()},
        unenforced=v.strings(m.get("unenforced")),
        unmeasured=v.strings(m.get("unmeasured")),
        warnings=v.strings(m.get("warnings")),
    )


def session_info(m: v.Json) -> SessionInfo:
    info = v.obj(m.get("info"))
    return SessionInfo(
        session_id=v.string(m.get("sessionId")),
        label=v.string(m.get("label")),
        principal=v.string(m.get("principal")),
        created_at=v.timestamp(m.get("createdAt")),
        idle_at=v.timestamp(m.get("idleAt")),
        expires_at=v.timestamp(m.get("expiresAt")),
        idle_timeout=v.seconds(m.get("idleTimeout")),
        backend=v.string(m.get("backend")),
        limits=limits(v.obj(info.get("limits"))),
        network=v.name(info.get("network"), "NETWORK_MODE_"),
        network_allowlist=v.strings(info.get("networkAllowlist")),
        tiers=tuple(tier_info(t) for t in v.objects(info.get("tiers"))),
        unenforced=tuple(
            (v.name(u.get("tier"), "TIER_"), v.string(u.get("name"))) for u in v.objects(info.get("unenforced"))
        ),
        warnings=v.strings(info.get("warnings")),
        overlay=v.string(info.get("overlay")),
        overlay_kind=v.string(info.get("overlayKind")),
    )


def usage(m: v.Json) -> Usage:
    def counts(key: str) -> dict[str, int]:
        return {k: v.integer(n) for k, n in v.obj(m.get(key)).items()}

    return Usage(
        runs=v.integer(m.get("runs")),
        running=v.integer(m.get("running")),
        wall_time=v.seconds(m.get("wallTime")) or 0.0,
        cpu_time=v.seconds(m.get("cpuTime")),
        peak_memory_bytes=v.optional_integer(m.get("peakMemoryBytes")),
        stdout_bytes=v.integer(m.get("stdoutBytes")),
        stderr_bytes=v.integer(m.get("stderrBytes")),
        by_tier=counts("byTier"),
        by_reason=counts("byReason"),
        unmeasured=counts("unmeasured"),
    )


def run_info(m: v.Json) -> RunInfo:
    ended = m.get("result")
    return RunInfo(
        run_id=v.string(m.get("runId")),
        type=v.name(m.get("type"), "SCRIPT_TYPE_"),
        name=v.string(m.get("name")),
        tier=v.name(m.get("tier"), "TIER_"),
        backend=v.string(m.get("backend")),
        route=v.string(m.get("route")),
        started_at=v.timestamp(m.get("startedAt")),
        detached=bool(m.get("detached")),
        result=None if ended is None else result(v.obj(ended)),
    )


def snapshot(m: v.Json) -> Snapshot:
    return Snapshot(
        snapshot_id=v.string(m.get("snapshotId")),
        memory_bytes=v.integer(m.get("memoryBytes")),
        created_at=v.timestamp(m.get("createdAt")),
        idle_at=v.timestamp(m.get("idleAt")),
    )


def health(m: v.Json) -> Health:
    return Health(
        version=v.string(m.get("version")),
        default_backend=v.string(m.get("defaultBackend")),
        backends=v.strings(m.get("backends")),
        draining=bool(m.get("draining")),
    )
