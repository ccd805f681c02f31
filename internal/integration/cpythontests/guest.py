"""Runs one of CPython's own test modules inside the tier: guest.py TESTS MODULE.

TESTS is the folder Lib/test. What happens is appended to results.jsonl in the working directory, a line at
a time, so that it is known how far a run got that was ended by force. Tests that results.jsonl names already are
not run again.
"""
import importlib
import importlib.util
import json
import os
import sys
import types
import unittest
import warnings

RESULTS = "results.jsonl"
tests, name = sys.argv[1:3]

# The folder itself is granted, not its parent: the package is made by hand.
spec = importlib.util.spec_from_file_location("test", os.path.join(tests, "__init__.py"), submodule_search_locations=[tests])
sys.modules["test"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["test"])

from test import support

support.verbose = False
support.use_resources = []  # neither network nor huge files

seen = set()
if os.path.exists(RESULTS):
    with open(RESULTS) as f:
        seen = {json.loads(line).get("test") for line in f}
log = open(RESULTS, "a", buffering=1)


def note(event, test, text=""):
    log.write(json.dumps({"event": event, "test": test, "text": text}) + "\n")


class Result(unittest.TestResult):
    """Notes the start and the end of each test."""

    def _last_line(self, err):
        return f"{err[0].__name__}: {err[1]}".strip().splitlines()[0][:300] if err else ""

    def startTest(self, test):
        super().startTest(test)
        self.failed = False
        note("start", test.id())

    def stopTest(self, test):
        super().stopTest(test)
        sys.stdout.flush()

    def addSuccess(self, test):
        note("pass", test.id())

    def addFailure(self, test, err):
        if not getattr(self, "failed", False):  # once a test: its clean-up may fail as well
            self.failed = True
            note("fail", test.id(), self._last_line(err))

    addError = addFailure

    def addSkip(self, test, reason):
        note("skip", test.id(), reason)

    def addExpectedFailure(self, test, err):
        note("pass", test.id())

    def addUnexpectedSuccess(self, test):
        note("fail", test.id(), "unexpected success")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addFailure(test, err)


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def without_seen(suite):
    """The same suite; tests that ran already are taken out, class by class order is kept."""
    kept = unittest.TestSuite()
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            kept.addTest(without_seen(item))
        elif item.id() not in seen:
            kept.addTest(item)
    return kept


class Absent(types.ModuleType):
    """In the place of a module for tests of C code, which the tier does not have: what needs it is skipped."""

    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise unittest.SkipTest(f"needs {self.__name__}.{attribute}")


def load():
    """Import the module. What would skip all of it for what only some of its tests need is put right."""
    package, dot, _ = name.rpartition(".")
    try:
        return importlib.import_module("test." + name)
    except unittest.SkipTest as e:
        if "_test" in str(e):  # _testcapi, _testinternalcapi, ...
            for absent in ("_testcapi", "_testinternalcapi", "_testlimitedcapi"):
                sys.modules[absent] = Absent(absent)
            # What test.support asks when test_traceback is imported.
            sys.modules["_testinternalcapi"].get_config = lambda: {"code_debug_ranges": 1}
        elif dot:  # the package wants something that not all of its modules need
            path = os.path.join(tests, *package.split("."))
            bare = importlib.util.spec_from_file_location("test." + package, os.path.join(path, "__init__.py"), submodule_search_locations=[path])
            sys.modules["test." + package] = importlib.util.module_from_spec(bare)
        else:
            raise
    return importlib.import_module("test." + name)


def main():
    warnings.simplefilter("default")
    if not os.path.exists(sys.executable or ""):
        sys.executable = ""  # some tests read the interpreter's file
    try:
        module = load()
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    except unittest.SkipTest as e:
        return note("module skipped", name, str(e))
    except Exception as e:
        return note("module failed", name, f"{type(e).__name__}: {e}")
    note("total", "", str(sum(1 for _ in flatten(suite))))
    without_seen(suite).run(Result())
    note("done", "")


main()
log.close()
os._exit(0)  # what a test left behind is not waited for
