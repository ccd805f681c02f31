import os, stat, tempfile

# A script makes its own files private and marks a program as executable.
with open("plain.txt", "w") as f:
    f.write("x")
os.mkdir("folder")
print(oct(stat.S_IMODE(os.stat("plain.txt").st_mode)), oct(stat.S_IMODE(os.stat("folder").st_mode)))
for mode in (0o600, 0o755, 0o444, 0o640):
    os.chmod("plain.txt", mode)
    print(oct(mode), oct(stat.S_IMODE(os.stat("plain.txt").st_mode)), stat.filemode(os.stat("plain.txt").st_mode))
os.chmod("folder", 0o700)
print(oct(stat.S_IMODE(os.lstat("folder").st_mode)))
fd = os.open("private", os.O_CREAT | os.O_WRONLY, 0o600)
os.close(fd)
print(oct(stat.S_IMODE(os.stat("private").st_mode)))
with tempfile.NamedTemporaryFile() as f:
    print(oct(stat.S_IMODE(os.stat(f.name).st_mode)))
print(os.access("plain.txt", os.R_OK), os.access("plain.txt", os.X_OK), os.access("missing", os.F_OK))
