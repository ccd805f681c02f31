import errno, os


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def attempt(label, call, *args):
    try:
        call(*args)
        print(label, "ok")
    except OSError as e:
        print(label, type(e).__name__, errno.errorcode[e.errno])


write("a", "a"), write("b", "b")
os.makedirs("empty"), os.makedirs("full/sub"), os.makedirs("other")
write("full/f", "f")
attempt("file over file", os.rename, "a", "b")
print(open("b").read())
attempt("file over folder", os.rename, "b", "empty")
attempt("folder over file", os.rename, "empty", "b")
attempt("folder over empty", os.rename, "full", "empty")
attempt("folder over full", os.rename, "other", "empty")
attempt("into itself", os.rename, "empty", "empty/sub/x")
attempt("missing", os.replace, "missing", "x")
attempt("to nowhere", os.replace, "b", "none/x")
attempt("onto itself", os.rename, "b", "b")
attempt("to upper case", os.rename, "b", "B")
attempt("across", os.rename, "B", "/tmp/B")
attempt("renames", os.renames, "B", "deep/er/B")
attempt("rmdir full", os.rmdir, "empty")
attempt("rmdir file", os.rmdir, "deep/er/B")
attempt("unlink folder", os.unlink, "empty")
attempt("removedirs", os.removedirs, "other")
print(sorted(os.listdir(".")))
