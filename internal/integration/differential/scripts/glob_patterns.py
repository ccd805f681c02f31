import fnmatch, glob, os

for d in ("a/b/c", "a/.hidden", "x1", "x2"):
    os.makedirs(d)
for f in ("a/1.txt", "a/b/2.txt", "a/b/c/3.TXT", "a/.hidden/4.txt", "x1/[5].txt", "x2/6.csv", ".dot", "7.txt"):
    open(f, "w").close()


def show(pattern, **options):
    print(pattern, sorted(glob.glob(pattern, **options)))


show("*"), show("*.txt"), show("**/*.txt"), show("**/*.txt", recursive=True), show("**", recursive=True)
show("a/**", recursive=True), show("x?/*"), show("x[12]/*"), show("x[!1]/*"), show(".*"), show("a/.*/*")
show("x1/[[]5].txt"), show(glob.escape("x1/[5].txt")), show("*/"), show("/tmp/sandbox-work/x*"), show("nothing*"), show("a/*/c/*.TXT")
show("*.txt", root_dir="a")
print(fnmatch.filter(["A.txt", "a.TXT", "b"], "*.txt"), fnmatch.fnmatchcase("a", "A"), sorted(glob.iglob("x*")))
print(os.path.commonpath(glob.glob("a/**/*.txt", recursive=True)), len(list(glob.iglob("**", recursive=True))))
