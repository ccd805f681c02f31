import os, stat

with open("f", "wb") as f:
    f.write(bytes(5000))
os.utime("f", ns=(1_234_567_890_123_456_789, 1_234_567_891_987_654_321))
os.mkdir("d")
os.mkdir("d/e")
os.symlink("f", "l")
st = os.stat("f")
print(st.st_size, st.st_nlink, stat.S_ISREG(st.st_mode), st.st_mtime_ns, st.st_atime_ns, st.st_mtime)
print(stat.S_ISDIR(os.stat("d").st_mode), stat.S_ISLNK(os.lstat("l").st_mode), stat.S_ISLNK(os.stat("l").st_mode), os.lstat("l").st_size)
print(st.st_dev == os.stat("d").st_dev, st.st_dev == os.stat("/tmp").st_dev, st.st_ino == os.stat("l").st_ino, st.st_ino != os.lstat("l").st_ino)
print(stat.S_ISCHR(os.stat("/dev/null").st_mode), stat.S_IFMT(st.st_mode) == stat.S_IFREG)
with open("f") as f:
    print(os.fstat(f.fileno()) == st, os.path.sameopenfile(f.fileno(), f.fileno()))
print(len(st), st[6], tuple(st)[6], os.path.getsize("f"), isinstance(os.path.getctime("f"), float))
print(sorted(n for n in ("st_mode", "st_ino", "st_dev", "st_uid", "st_gid", "st_ctime_ns", "st_birthtime") if hasattr(st, n)))
