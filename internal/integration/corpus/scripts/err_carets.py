"""Where the carets point: long expressions, several lines, nested calls, comprehensions."""
import traceback


def run(fn):
    try:
        fn()
    except Exception:
        print(traceback.format_exc())


class Cfg:
    def __init__(self, **kw):
        self.__dict__.update(kw)


data = {"users": [{"name": "ann", "tags": None}, {"name": "bob"}], "n": 0}


def index_chain():
    return data["users"][0]["tags"]["first"] + data["users"][1]["name"]


def binary():
    a, b, c = 1, 0, 5
    return (a + c) * 2 / (b * c) + 1


def attribute():
    cfg = Cfg(db=Cfg(url=None))
    return cfg.db.url.lower().strip()


def multi_line():
    return max(
        len(str(x))
        for x in [
            10,
            1 / data["n"],
            30,
        ]
    )


def comprehension():
    return [int(word) for word in "1 2 three 4".split() if word]


def lambdas():
    return list(map(lambda v: v["tags"].upper(), data["users"]))


def unicode_text():
    größe = "ä" * 3; 漢字 = None
    return größe + 漢字 + "後ろ"


def unpack():
    first, second = data["users"][0].values(), *[1, 2]
    return first + second


def call_chain():
    return sorted(filter(None, [3, "x", 1]), key=lambda v: (v is None, v))


def decorated():
    def deco(arg):
        def wrap(fn):
            return fn(arg)
        return wrap

    @deco(0)
    def inner(x):
        return 10 % x


def with_statement():
    with open("no-such-file.txt") as f, \
            open("other.txt") as g:
        return f.read() + g.read()


def recursive(n):
    if n == 0:
        return [].pop()
    return recursive(n - 1)


def reraise():
    try:
        binary()
    except ZeroDivisionError as e:
        raise ValueError("reraised") from e


for fn in (index_chain, binary, attribute, multi_line, comprehension, lambdas, unicode_text, unpack, call_chain, decorated, with_statement, lambda: recursive(6), reraise):
    run(fn)
result = [index_chain() if False else binary() for _ in range(1)]
