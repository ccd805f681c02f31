"""Keeps a session from being closed for want of use while it is open here."""

from __future__ import annotations

import threading

from ._transport import Transport
from .errors import Closed, NotFound, SandbarError

_SHORTEST = 0.2
_LONGEST = 60.0
_UNKNOWN = 20.0


def start(transport: Transport, session_id: str, idle_timeout: float | None) -> threading.Event:
    """Renews the lease in a thread until the event that it returns is set, or the session is not there any more.

    The thread does not hold the session: one that is forgotten without close is not renewed for ever.
    """
    stop = threading.Event()
    pause = idle_timeout / 3 if idle_timeout else _UNKNOWN
    pause = min(max(pause, _SHORTEST), _LONGEST)
    name = f"sandbar-lease-{session_id[:8]}"
    threading.Thread(target=_renew, args=(transport, session_id, pause, stop), name=name, daemon=True).start()
    return stop


def _renew(transport: Transport, session_id: str, pause: float, stop: threading.Event) -> None:
    while not stop.wait(pause):
        try:
            transport.unary("RenewSession", {"sessionId": session_id}, retry=True)
        except (NotFound, Closed):
            return
        except SandbarError:
            continue  # the next time, perhaps; calls of the session tell what is wrong
