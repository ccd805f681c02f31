# The same refusals, by their class.
for path, mode in (("/etc/passwd", "a"), ("/evil", "w"), ("/usr/evil", "w"), ("/etc/shadow", "r")):
    try:
        open(path, mode)
    except OSError as e:
        print(path, type(e).__name__)
