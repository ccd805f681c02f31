package wasm

// warmUp is run once when the image is made. The modules that it imports are in every run's interpreter
// at no cost; what it calls fills caches and specialises bytecode. It must leave nothing behind that
// differs from a fresh interpreter in another way: no open files, no state in a module.
const warmUp = `
import abc, argparse, array, ast, asyncio, atexit, base64, binascii, bisect, builtins, bz2, calendar, cmath, codecs
import collections, collections.abc, concurrent.futures, configparser, contextlib, contextvars, copy, csv, dataclasses
import datetime, decimal, difflib, email, encodings.ascii, encodings.idna, encodings.latin_1, encodings.utf_8, enum, errno
import fnmatch, fractions, functools, gc, getopt, glob, graphlib, gzip, hashlib, heapq, hmac, html, html.parser, importlib
import importlib.util, importlib.resources, inspect, io, itertools, json, keyword, linecache, locale, logging, lzma, math
import numbers, operator, os, pathlib, pickle, pkgutil, platform, pprint, queue, random, re, reprlib, secrets, select
import selectors, shlex, shutil, signal, socket, sqlite3, stat, statistics, string, struct, subprocess, sys, sysconfig
import tarfile, tempfile, textwrap, threading, time, timeit, token, tokenize, traceback, types, typing, unicodedata
import urllib.parse, urllib.request, uuid, warnings, weakref, xml.etree.ElementTree, zipfile, zlib, zoneinfo

def work():
    json.loads(json.dumps({"a": [1, 2.5, None, True, "x"], "b": {"c": "d"}}, indent=2))
    for pattern in (r"\d+", r"(\w+)@(\w+)\.com", r"[a-z]+"):
        re.sub(pattern, "x", "abc 123 foo@bar.com")
    datetime.datetime(2024, 1, 2).strftime("%Y-%m-%d %H:%M:%S")
    datetime.datetime.strptime("2024-01-02", "%Y-%m-%d")
    collections.Counter("hello").most_common(2)
    sorted([3, 1, 2], key=lambda v: -v)
    f"{3.14159:.2f} {'x':>10} {1000000:,}"
    decimal.Decimal("1.1") + decimal.Decimal("2.2")
    list(csv.reader(io.StringIO("a,b\n1,2\n")))
    statistics.mean([1, 2, 3])
    @dataclasses.dataclass
    class Point:
        x: int
        y: int = 0
    repr(Point(1))
    class Colour(enum.Enum):
        RED = 1
    repr(Colour.RED)
    try:
        raise ValueError("x")
    except ValueError:
        "".join(traceback.format_exc())
    try:
        work.absent
    except AttributeError:
        "".join(traceback.format_exc())
    with contextlib.suppress(KeyError):
        {}["x"]
    async def nothing():
        await asyncio.sleep(0)
        return await asyncio.gather(asyncio.sleep(0, 1))
    with asyncio.Runner() as runner:
        # Tasks without a name are numbered, and the numbers would go on in each run.
        runner.get_loop().set_task_factory(lambda loop, coro, **options: asyncio.Task(coro, loop=loop, **{**options, "name": "warm"}))
        runner.run(nothing())
    asyncio.set_event_loop_policy(None)
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (a, b)")
    connection.execute("insert into t values (1, 2)")
    connection.execute("select sum(a) from t").fetchall()
    connection.close()
    exec(compile("for i in range(20):\n    i * 2\nprint\n", "<image>", "exec"), {})

for _ in range(3):
    work()
del work
linecache.clearcache()
sys.modules.pop("__mp_main__", None)
`
