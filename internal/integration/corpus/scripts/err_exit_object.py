import atexit
import sys


class Status:
    def __str__(self):
        return "status object: disk full"


atexit.register(print, "atexit still runs")
raise SystemExit(Status())
