"""What is made of the output of a run that has ended."""

from __future__ import annotations

from .errors import ExitError
from .types import Output, TextOutput


def as_text(output: Output) -> TextOutput:
    """Output as text."""
    stdout, stderr = output.stdout.decode("utf-8", "replace"), output.stderr.decode("utf-8", "replace")
    return TextOutput(stdout, stderr, output.result)


def check_exit(output: Output) -> bytes:
    """stdout of a run that ended with exit code 0. Raises ExitError for others."""
    result = output.result
    if result.exit_code == 0 and result.reason == "exited":
        return output.stdout
    message = f"script ended with exit code {result.exit_code} ({result.reason})"
    if last := last_line(output.stderr):
        message += ": " + last
    raise ExitError(message, result=result, stdout=output.stdout, stderr=output.stderr)


def last_line(data: bytes) -> str:
    """The last line that is not blank, fit for a message: a script chose it, and terminals act on control characters."""
    lines = data[-4096:].rstrip().rsplit(b"\n", 1)
    text = lines[-1].strip()[:200].decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
