"""Data analysis that wants packages which are not there."""
import csv
import statistics

HAVE = {}
for name in ("numpy", "pandas", "matplotlib.pyplot", "requests", "yaml"):
    try:
        __import__(name)
        HAVE[name] = True
    except ImportError as e:
        HAVE[name] = False
        print("optional:", e)

print("fallback mean:", statistics.fmean([1, 2, 3, 4]))


def plot(values):
    import numpy as np
    return np.array(values)


try:
    plot([1])
except ModuleNotFoundError as e:
    print(type(e).__mro__[1].__name__, e.name, e.path)
plot([1, 2])
