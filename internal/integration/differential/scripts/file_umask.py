import os

old = os.umask(0o077)
print(oct(old))
with open("secret.txt", "w") as f:
    f.write("x")
print(oct(os.stat("secret.txt").st_mode & 0o777))
os.umask(old)
