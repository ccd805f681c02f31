# exit() without an import, as in many short scripts
answers = ["y", "n"]
for a in answers:
    if a == "n":
        print("stopping early")
        exit(7)
    print("go on")
