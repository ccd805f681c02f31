import errno, io, os

os.mkdir("d")
open("f", "w").close()
cases = {
    "read missing": lambda: open("missing"),
    "read folder": lambda: open("d").read(),
    "write folder": lambda: open("d", "w"),
    "file as folder": lambda: open("f/x"),
    "list file": lambda: os.listdir("f"),
    "mkdir exists": lambda: os.mkdir("f"),
    "mkdir below file": lambda: os.mkdir("f/x"),
    "remove folder": lambda: os.remove("d"),
    "remove missing": lambda: os.remove("missing"),
    "chdir file": lambda: os.chdir("f"),
    "truncate folder": lambda: os.truncate("d", 0),
    "truncate negative": lambda: os.truncate("f", -1),
    "scandir missing": lambda: os.scandir("missing"),
    "makedirs exists": lambda: os.makedirs("d"),
    "readlink file": lambda: os.readlink("f"),
}
for name, call in cases.items():
    try:
        call()
        print(name, "worked")
    except OSError as e:
        print(name, "->", type(e).__name__, errno.errorcode[e.errno], os.strerror(e.errno) == e.strerror, e.filename)
for name, call in {"write to reader": lambda: open("f").write("x"), "read writer": lambda: open("f", "w").read(), "text to binary": lambda: open("f", "wb").write("x"), "seek text": lambda: open("f").seek(1, 1)}.items():
    try:
        call()
    except Exception as e:
        print(name, "->", type(e).__name__, e)
