import os, sys

saved = os.dup(1)
fd = os.open("captured", os.O_CREAT | os.O_WRONLY, 0o644)
sys.stdout.flush()
os.dup2(fd, 1)
print("into the file")
sys.stdout.flush()
os.dup2(saved, 1)
print("back", open("captured").read())
