import errno, os

os.mkdir("closed")
open("closed/inside", "w").close()
os.chmod("closed", 0o555)
for call in (lambda: open("closed/new", "w").close(), lambda: os.remove("closed/inside"), lambda: os.mkdir("closed/d"), lambda: os.rename("closed/inside", "out")):
    try:
        call()
        print("done")
    except OSError as e:
        print(type(e).__name__, errno.errorcode[e.errno])
os.chmod("closed", 0o755)
