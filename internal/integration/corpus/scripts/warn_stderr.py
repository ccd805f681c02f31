"""Warnings of all kinds and where they go."""
import re
import sys
import warnings


def old_api():
    warnings.warn("old_api() is deprecated, use new_api()", DeprecationWarning, stacklevel=2)
    return 1


def noisy(n):
    warnings.warn(f"value {n} is suspicious")
    return n


class Special(UserWarning):
    pass


print(old_api())
for i in range(3):
    noisy(i % 2)
warnings.warn("future", FutureWarning)
warnings.warn("special", Special)
warnings.warn("ignored by default", PendingDeprecationWarning)
warnings.warn("ignored too", ResourceWarning)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    old_api()
    noisy(5)
    noisy(5)
print([(w.category.__name__, str(w.message), w.lineno) for w in seen])
with warnings.catch_warnings():
    warnings.simplefilter("error")
    try:
        noisy(1)
    except UserWarning as e:
        print("raised:", e)
warnings.filterwarnings("ignore", message=".*suspicious")
noisy(9)
warnings.formatwarning = lambda m, c, f, l, line=None: f"{c.__name__} in line {l}: {m}\n"
warnings.warn("custom format")
try:
    warnings.warn("x", category=int)
except TypeError as e:
    print("TypeError:", e)
eval(compile("x = '\\d'\nassert (1, 'always true')\nif 1 is 1: pass\n[1](0) if 0 else 0", "<dynamic>", "exec"))
print(re.sub(r"a", "b", "banana", 1, 0) if sys.version_info < (3, 13) else re.sub("a", "b", "banana", count=1))
import datetime
print(datetime.datetime.utcfromtimestamp(0))
print(sys.warnoptions, bool(sys.flags.dev_mode))
