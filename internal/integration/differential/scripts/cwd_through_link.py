import os

os.makedirs("a/b")
os.symlink("a/b", "l")
os.chdir("l")
print(os.getcwd())
os.chdir("..")
print(os.getcwd())
