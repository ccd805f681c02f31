import os, shutil

for i in range(2000):
    with open(f"many_{i:05}", "w") as f:
        f.write(str(i))
names = sorted(os.listdir("."))
print(len(names), names[0], names[-1], sum(int(open(n).read()) for n in names))
with os.scandir(".") as it:
    print(sum(e.stat().st_size for e in it))
for n in names[::2]:
    os.remove(n)
print(len(os.listdir(".")))
seen = 0
for e in os.scandir("."):
    os.rename(e.path, "moved_" + e.name) if not e.name.startswith("moved_") else None
    seen += 1
print(len(os.listdir(".")), seen >= 1000)
os.mkdir("d")
for n in os.listdir("."):
    if n != "d":
        shutil.move(n, "d")
print(len(os.listdir("d")))
shutil.rmtree("d")
print(os.listdir("."))
