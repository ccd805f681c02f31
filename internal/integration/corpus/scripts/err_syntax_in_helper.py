"""The helper module does not compile."""
import sys

print("starting")
try:
    import broken
except SyntaxError as e:
    print("caught:", e.msg, e.filename, e.lineno, e.text.strip())
print("broken" in sys.modules)
sys.stdout.flush()
from broken import ok
print(ok())
