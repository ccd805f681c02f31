"""What surrounds a script in the wasm tier. It lives in the image: its functions are called by the shim
and never imported by scripts."""

import atexit
import builtins
import errno
import gc
import importlib.util
import linecache
import os
import socket
import sys
import threading
import time
import types


def warm(cwd, env, shadow, source):
    """Run source for what it leaves in the image: imported modules, filled caches. With a cwd, it finds the modules of a
    session as a script does; nothing of directory, environment and search path is left."""
    namespace = {"__name__": "__sandbar_warm__", "__builtins__": builtins}
    before = dict(os.environ)
    paths = list(sys.path)
    if cwd:
        _set_environment(env)
        os.chdir(cwd)
        _extend_path(cwd)
        _forget(shadow)
    try:
        exec(compile(source, "<image>", "exec"), namespace)
    finally:
        namespace.clear()
        if cwd:
            os.chdir("/")
            sys.path[:] = paths
            os.environ.clear()
            os.environ.update(before)


def prepare_image():
    """Leave the heap as the image needs it, and return the names of the modules in it."""
    _complete()
    sys.stdout.reconfigure(line_buffering=True)
    sys.stdout.flush()
    sys.stderr.flush()
    sys.modules.pop("__main__", None)
    # A directory's listing that was read while the image was made must not outlive it.
    for finder in sys.path_importer_cache.values():
        if hasattr(finder, "invalidate_caches") and not getattr(finder, "path", "").startswith("/usr/lib/python"):
            finder.invalidate_caches()
    sys._clear_internal_caches()
    names = frozenset(sys.modules)
    gc.collect()
    gc.collect()
    return names


def _complete():
    """Give scripts the errors that they expect, in the place of an AttributeError."""

    def get_terminal_size(fd=1, /):
        raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))

    def no_sockets(*args, **kwargs):
        raise OSError(errno.ENOTSUP, "the wasm tier has no sockets")

    os.get_terminal_size = get_terminal_size
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo"):
        if not hasattr(socket._socket, name):
            setattr(socket._socket, name, no_sockets)
            setattr(socket, name, no_sockets)
    if not hasattr(socket, "gethostname"):
        socket.gethostname = lambda: "localhost"
    # There is no program to name.
    sys.executable = sys._base_executable = ""


def prepare(path, cwd, args, env, shadow):
    """Make the world that the script expects: environment, directory, argv, __main__."""
    _set_environment(env)
    os.chdir(cwd)
    sys.argv[:] = [path, *args]
    _extend_path(cwd)
    _forget(shadow)
    main = _new_main()
    main.__file__ = path
    main.__cached__ = None
    main.__loader__ = _loader("__main__", path)
    _renew()


def _set_environment(env):
    environ = os.environ
    for item in env:
        key, _, value = item.partition("=")
        environ[key] = value
    if "TZ" in environ and hasattr(time, "tzset"):
        time.tzset()


def _extend_path(cwd):
    """Put into sys.path what a native python3 has there: the script's directory, PYTHONPATH, and behind the standard library
    the packages of the virtual environment."""
    extra = [cwd]
    if given := os.environ.get("PYTHONPATH"):
        extra += [os.path.abspath(part) for part in given.split(":")]
    sys.path[:0] = extra
    if venv := os.environ.get("VIRTUAL_ENV"):
        for folder in _site_packages(venv):
            _add_site(folder)


def _site_packages(venv):
    """The package folders of a virtual environment. What was installed by another version of Python is used too: what is
    not pure does not import, as nothing compiled does here."""
    found = []
    for lib in ("lib", "lib64"):
        if lib == "lib64" and os.path.islink(os.path.join(venv, lib)):
            continue
        try:
            versions = sorted(os.listdir(os.path.join(venv, lib)))
        except OSError:
            continue
        for version in versions:
            folder = os.path.join(venv, lib, version, "site-packages")
            if version.startswith("python3") and os.path.isdir(folder):
                found.append(folder)
    return found


def _add_site(folder):
    """Add a package folder and the folders that .pth files in it name, as site.addsitedir does. Lines with code are not run:
    each script would pay for them, and where a script runs is decided without running anything."""
    added = [folder]
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".pth") or name.startswith("."):
            continue
        try:
            with open(os.path.join(folder, name), encoding="utf-8-sig", errors="surrogateescape") as f:
                lines = f.read(65536).splitlines()
        except OSError:
            continue
        for line in lines:
            line = line.rstrip()
            if line and not line.startswith(("#", "import ", "import\t")) and "\0" not in line:
                added.append(os.path.abspath(os.path.join(folder, line)))
    known = set(sys.path)
    for path in added:
        if path not in known and os.path.isdir(path):
            known.add(path)
            sys.path.append(path)


def _forget(names):
    """Take modules that the image holds out of the way of files that the script has in their place."""
    for name in names:
        for key in [key for key in sys.modules if key == name or key.startswith(name + ".")]:
            del sys.modules[key]


def _new_main():
    main = types.ModuleType("__main__")
    main.__annotations__ = {}
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    return main


def _loader(name, path):
    from importlib.machinery import SourceFileLoader

    return SourceFileLoader(name, path)


def _renew():
    """Give the modules that the image holds what they would have drawn or noted if they had been imported
    now: random its numbers, logging its start."""
    modules = sys.modules
    if random := modules.get("random"):
        random.seed()
    if logging := modules.get("logging"):
        logging._startTime = time.time_ns()
    if tempfile := modules.get("tempfile"):
        tempfile._name_sequence = None
    if uuid := modules.get("uuid"):
        uuid._node = uuid._last_timestamp = None


# What the run before asked for in an interpreter that stays. What is asked for again is not done again: the scripts may
# have changed it, and that is their state.
_asked = None


def begin(label, cwd, args, env, shadow, source, renew):
    """Make the world of one more script in an interpreter that stays."""
    global _asked
    if _asked is None:
        _set_environment(env)
        os.chdir(cwd)
        _extend_path(cwd)
        _forget(shadow)
        _new_main()
        _renew()
    else:
        if renew:
            _renew()
        old_cwd, old_env = _asked
        for item in old_env:
            if item not in env:
                os.environ.pop(item.partition("=")[0], None)
        _set_environment([item for item in env if item not in old_env])
        if cwd != old_cwd:
            os.chdir(cwd)
    _asked = cwd, env
    sys.argv[:] = [label, *args]
    _remember(label, source)


def _remember(label, source):
    """Let tracebacks show the lines of a source that is in no file."""
    try:
        lines = importlib.util.decode_source(source).splitlines(keepends=True)
    except (SyntaxError, UnicodeError):
        return
    linecache.cache[label] = (len(source), None, lines, label)


def show(value):
    """The repr of the last expression's value, which "_" keeps."""
    builtins._ = None
    text = repr(value)
    builtins._ = value
    return text.encode("utf-8", "backslashreplace")


def finish():
    """The first part of the interpreter's end."""
    threading._shutdown()
    atexit._run_exitfuncs()


_NATIVE = "this needs the native tier"

_THREADS = "sandbar: the wasm tier has no threads; " + _NATIVE
_PROCESSES = "sandbar: the wasm tier has no processes; " + _NATIVE
_SOCKETS = "sandbar: the wasm tier has no sockets; " + _NATIVE
_MODULE = "sandbar: the wasm tier has no module {!r}; " + _NATIVE


def advise(exc):
    """Return one line about the limit of this tier that exc comes from, and note it on exc; or None."""
    advice = _advice(exc)
    if advice is not None:
        exc.add_note(advice)
    return advice


def _advice(exc):
    if isinstance(exc, ModuleNotFoundError):
        name = (exc.name or "").partition(".")[0]
        return _MODULE.format(name) if name in ABSENT else None
    if isinstance(exc, RuntimeError) and str(exc) == "can't start new thread":
        return _THREADS
    if isinstance(exc, OSError):
        module = _raised_in(exc)
        if module == "subprocess" or "does not support processes" in str(exc):
            return _PROCESSES
        if module in ("socket", "_socket", "urllib.request", "http.client") or "no sockets" in str(exc):
            return _SOCKETS
    if isinstance(exc, AttributeError) and exc.obj is os and exc.name in ("fork", "execv", "pipe", "system", "popen", "kill"):
        return _PROCESSES
    return None


def _raised_in(exc):
    tb = exc.__traceback__
    if tb is None:
        return None
    while tb.tb_next is not None:
        tb = tb.tb_next
    return tb.tb_frame.f_globals.get("__name__")


# The modules of a native CPython that are not here; a test of package wasm holds this to the truth.
ABSENT = frozenset(
    "_ctypes _curses _curses_panel _dbm _gdbm _hashlib _interpchannels _interpqueues _interpreters _multiprocessing "
    "_posixshmem _posixsubprocess _ssl _tkinter _uuid ctypes curses ensurepip fcntl grp idlelib mmap pwd pydoc_data "
    "readline resource ssl syslog termios tkinter turtle turtledemo".split()
)
