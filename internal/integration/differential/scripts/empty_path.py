import errno, os

for call in (lambda: open(""), lambda: os.stat(""), lambda: os.chdir(""), lambda: os.mkdir(""), lambda: os.rmdir(".")):
    try:
        call()
        print("worked")
    except OSError as e:
        print(errno.errorcode[e.errno])
