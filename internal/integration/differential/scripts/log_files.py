import logging, logging.handlers, os

log = logging.getLogger("app")
log.setLevel(logging.DEBUG)
handler = logging.handlers.RotatingFileHandler("app.log", maxBytes=200, backupCount=2, encoding="utf-8")
handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
log.addHandler(handler)
for i in range(20):
    log.info("message number %d ü", i)
try:
    1 / 0
except ZeroDivisionError:
    log.exception("went wrong")
handler.close()
print(sorted(os.listdir(".")), open("app.log").read().split("\n")[0])
logging.basicConfig(filename="root.log", format="%(message)s", force=True)
logging.warning("to the file")
logging.shutdown()
print(open("root.log").read())
os.remove("app.log")
