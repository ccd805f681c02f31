import glob, os, pathlib, unicodedata

names = ["übung.txt", unicodedata.normalize("NFD", "übung.txt"), "日本語", "smile 😀.md", "new\nline", "quote'\"", " space ", "tab\t", "-rf", "*star*", "[x]", "back\\slash", "~home", "$VAR", "İı", "a" * 200]
for i, name in enumerate(names):
    with open(name, "w") as f:
        f.write(str(i))
listed = sorted(os.listdir("."))
print(len(listed), [ascii(n) for n in listed])
print([pathlib.Path(n).read_text() for n in names])
print(sorted(map(ascii, glob.glob("*.txt"))), glob.glob(glob.escape("*star*")), glob.glob(glob.escape("[x]")))
os.mkdir("Ordner ä")
os.rename("übung.txt", "Ordner ä/ß.txt")
print(sorted(map(ascii, os.listdir("Ordner ä"))), os.path.exists("übung.txt"))
print([ascii(p.name) for p in sorted(pathlib.Path(".").rglob("*.txt"))])
