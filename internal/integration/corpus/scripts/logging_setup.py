"""Logging: levels, handlers, formatters, files, filters, configuration."""
import io
import logging
import logging.config
import logging.handlers
import sys


def audit(record):
    return record.levelno != logging.DEBUG or "secret" not in record.getMessage()


logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)-8s %(name)s:%(lineno)d %(message)s")
log = logging.getLogger("app")
log.debug("not shown")
log.info("started with %d workers and %s", 4, {"mode": "fast"})
log.warning("disk at %.1f%%", 91.234)

child = logging.getLogger("app.db")
child.setLevel(logging.DEBUG)
child.debug("query took %(ms)d ms", {"ms": 12})
child.addFilter(audit)
child.debug("secret value")
child.propagate = False
err = logging.StreamHandler()
err.setLevel(logging.ERROR)
err.setFormatter(logging.Formatter("[{levelname}] {name} in {funcName}: {message}", style="{"))
child.addHandler(err)


def divide(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        child.exception("cannot divide %s by %s", a, b)
        return None


print("result:", divide(1, 0))
child.error("goes to stderr only")
child.critical("multi\nline", stack_info=False)

handler = logging.FileHandler("app.log", mode="w", encoding="utf-8")
handler.setFormatter(logging.Formatter("%(levelname)s|%(message)s|%(who)s", defaults={"who": "nobody"}))
file_log = logging.getLogger("file")
file_log.propagate = False
file_log.addHandler(handler)
file_log.warning("ünïcode")
file_log.warning("with extra", extra={"who": "ann"})
handler.close()
print(open("app.log", encoding="utf-8").read(), end="")

rot = logging.handlers.RotatingFileHandler("rot.log", maxBytes=60, backupCount=2)
rlog = logging.getLogger("rot")
rlog.propagate = False
rlog.addHandler(rot)
for i in range(12):
    rlog.warning("message number %02d", i)
rot.close()
for name in ("rot.log", "rot.log.1", "rot.log.2"):
    print(name, open(name).read().split("\n")[:-1])

mem = logging.handlers.MemoryHandler(100, flushLevel=logging.ERROR, target=logging.StreamHandler(sys.stdout))
mlog = logging.getLogger("mem")
mlog.propagate = False
mlog.addHandler(mem)
mlog.warning("buffered 1")
print("nothing yet")
mlog.error("flushes both")

logging.config.dictConfig({
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"f": {"format": "CFG %(levelname)s %(message)s"}},
    "handlers": {"out": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout", "formatter": "f"}},
    "loggers": {"cfg": {"handlers": ["out"], "level": "INFO", "propagate": False}},
})
logging.getLogger("cfg").info("configured by dict")
logging.addLevelName(25, "NOTICE")
logging.getLogger("cfg").log(25, "custom level")
adapter = logging.LoggerAdapter(logging.getLogger("cfg"), {"x": 1})
adapter.info("adapted %s", "ok")
logging.getLogger("cfg").info("too %s many %s", "few")
print(log.isEnabledFor(logging.DEBUG), log.getEffectiveLevel(), logging.getLevelName(25), log, child.handlers != [])
logging.getLogger("root.less").warning("via root %s", [1, 2])
logging.disable(logging.CRITICAL)
log.critical("silenced")
