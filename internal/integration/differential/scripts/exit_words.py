import sys

sys.stdout.write("no newline")
sys.exit("gave up: ünïcode")
