import os, sys

# It runs three times in its session.
n = len(os.listdir("."))
print("run", n, os.getcwd(), os.path.exists("/tmp/left"), hasattr(sys, "left"), os.environ.get("LEFT"), "helper" in sys.modules)
with open(f"run{n}", "w") as f:
    f.write(str(n))
with open("log", "a") as f:
    f.write(f"run {n}\n")
open("/tmp/left", "w").close()
sys.left, os.environ["LEFT"] = True, "x"
with open("helper.py", "w") as f:
    f.write(f"VALUE = {n}\n" + "#" * n)
import helper

print(helper.VALUE, open("log").read().split("\n"))
os.makedirs("deep/er", exist_ok=True)
os.chdir("deep")
sys.exit(n)
