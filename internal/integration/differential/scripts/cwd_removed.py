import os

os.mkdir("gone")
os.chdir("gone")
os.rmdir("../gone")
try:
    print(os.getcwd())
except OSError as e:
    print(type(e).__name__)
try:
    open("f", "w")
except OSError as e:
    print(type(e).__name__)
