"""Exceptions inside exception handlers, loops, threads of try blocks; the last one is a chain of four."""


def level1():
    raise KeyError("level 1")


def level2():
    try:
        level1()
    except KeyError:
        int("level 2")


def level3():
    try:
        level2()
    except ValueError as e:
        raise OSError(13, "Permission denied", "/etc/level3") from e


def order():
    out = []
    for i in range(3):
        try:
            if i == 1:
                continue
            if i == 2:
                break
            out.append(i)
        except Exception:
            out.append("never")
        else:
            out.append("else")
        finally:
            out.append(f"finally {i}")
    return out


def finally_return():
    try:
        raise ValueError
    finally:
        return "swallowed"


def scope():
    e = "outer"
    try:
        raise ValueError("inner")
    except ValueError as e:
        pass
    try:
        return e
    except UnboundLocalError as err:
        return str(err)


print(order())
print(finally_return())
print(scope())
try:
    level3()
except OSError as e:
    print(e.errno, e.strerror, e.filename, type(e).__name__, repr(e.__cause__), repr(e.__cause__.__context__))
try:
    level3()
finally:
    print("last words")
    [][0]
