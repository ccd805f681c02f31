import errno, os

with open("secret", "w") as f:
    f.write("x")
os.chmod("secret", 0)
for mode in ("r", "w", "a"):
    try:
        open("secret", mode).close()
        print(mode, "opened")
    except OSError as e:
        print(mode, type(e).__name__, errno.errorcode[e.errno])
os.chmod("secret", 0o444)
try:
    open("secret", "a").close()
    print("opened")
except OSError as e:
    print(type(e).__name__)
print(open("secret").read())
os.remove("secret")
