import os, sys, traceback

try:
    try:
        os.remove("nothing")
    except FileNotFoundError:
        raise RuntimeError("second")
except RuntimeError as e:
    print(type(e.__context__).__name__, e.__cause__)
    print(traceback.format_exception_only(type(e), e))
try:
    raise ValueError("a") from None
except ValueError as e:
    print(e.__suppress_context__)


def hook(kind, value, tb):
    print("hook", kind.__name__, value)


sys.excepthook = hook
print(len(traceback.extract_stack()))
raise LookupError("seen by the hook")
