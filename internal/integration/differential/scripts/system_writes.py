import json, os


def attempt(label, call):
    try:
        call()
        print(label, "done")
    except OSError:
        print(label, "refused")


attempt("passwd", lambda: open("/etc/passwd", "a"))
attempt("root", lambda: open("/evil", "w"))
attempt("usr", lambda: open("/usr/evil", "w"))
attempt("mkdir", lambda: os.mkdir("/newdir"))
attempt("remove", lambda: os.remove("/etc/passwd"))
attempt("rename", lambda: os.rename("/usr", "/usr2"))
attempt("script", lambda: open(__file__, "w"))
attempt("remove script", lambda: os.remove(__file__))
attempt("proc", lambda: open("/proc/sys/kernel/hostname", "w"))
attempt("device", lambda: open("/dev/sda", "rb"))
attempt("above", lambda: open("../../evil", "w"))
attempt("library", lambda: open(json.__file__, "w"))
attempt("root home", lambda: os.listdir("/root"))
attempt("shadow", lambda: open("/etc/shadow"))
attempt("work", lambda: os.rmdir("/tmp/sandbox-work"))
attempt("move work", lambda: os.rename("/tmp/sandbox-work", "/tmp/other"))
open("/dev/null", "w").write("x")
print(os.path.exists("/tmp/sandbox-work"), len(open("/dev/urandom", "rb").read(8)), open("/dev/zero", "rb").read(2))
