import sys
import traceback


class AppError(Exception):
    """Has attributes, a custom str and a note."""

    def __init__(self, what, *, hint=None):
        super().__init__(what)
        if hint:
            self.add_note(f"hint: {hint}")


class Silent(Exception):
    def __str__(self):
        raise RuntimeError("str is broken")


class Multi(Exception):
    def __str__(self):
        return "first line\nsecond line"


def hook(kind, value, tb):
    frames = traceback.extract_tb(tb)
    print(f"HOOK {kind.__name__}: {value} at {frames[-1].name}:{frames[-1].lineno} {frames[-1].line!r}")
    sys.__excepthook__(kind, value, tb)


def fail(level=3):
    detail = {"level": level}
    raise AppError("cannot continue", hint="check the input")


try:
    fail()
except AppError as e:
    te = traceback.TracebackException.from_exception(e, capture_locals=True)
    print([(f.name, f.lineno) for f in te.stack], te.stack[-1].locals, "".join(te.format_exception_only()))
    print(traceback.format_exception_only(e), e.__traceback__.tb_lineno, e.__traceback__.tb_next.tb_frame.f_code.co_name)
    stack = traceback.format_tb(e.__traceback__, limit=1)
    print(stack)
try:
    raise Multi
except Multi:
    traceback.print_exc(file=sys.stdout)
try:
    raise Silent
except Silent:
    traceback.print_exc(file=sys.stdout)
e1 = ValueError("with tb")
try:
    raise e1.with_traceback(None)
except ValueError as e:
    print(e is e1)
try:
    raise "a string"
except TypeError as e:
    print(e)
try:
    raise int
except TypeError as e:
    print(e)
try:
    try:
        raise ValueError
    except KeyError() if False else ValueError as e:
        raise
except ValueError as e:
    print(repr(e), e.args)
try:
    raise
except RuntimeError as e:
    print(e)
print(sys.exc_info(), sys.exception())
sys.excepthook = hook
fail()
