package routingtests

// guarded is a script whose import of ctypes is in a try with a handler.
func guarded(handler string) string {
	return "import os, sys\ntry:\n    import ctypes\n" + handler + "print(1)\n"
}

// guardScripts are imports in try statements.
var guardScripts = []script{
	{name: "guarded", text: guarded("except ImportError:\n    ctypes = None\n"), stdout: "1\n"},
	{name: "guarded, not found", text: "try:\n    import no_such_module as m\nexcept ImportError:\n    m = None\nprint(m)\n", stdout: "None\n"},
	{name: "guarded, ModuleNotFoundError", text: guarded("except ModuleNotFoundError:\n    pass\n"), stdout: "1\n"},
	{name: "guarded, Exception", text: guarded("except Exception as e:\n    e = str(e)\n"), stdout: "1\n"},
	{name: "guarded, BaseException", text: guarded("except BaseException:\n    pass\n"), stdout: "1\n"},
	{name: "guarded, everything", text: guarded("except:\n    pass\n"), stdout: "1\n"},
	{name: "guarded, one of several", text: guarded("except (OSError, ImportError):\n    pass\n"), stdout: "1\n"},
	{name: "guarded, second handler", text: guarded("except OSError:\n    raise\nexcept ImportError:\n    pass\n"), stdout: "1\n"},
	{name: "not guarded by ValueError", text: guarded("except ValueError:\n    pass\n"), native: "line 3: import ctypes", refused: "ctypes", line: 3, stdout: "1\n"},
	{name: "handler raises", text: guarded("except ImportError:\n    raise\n"), native: "line 3: import ctypes", refused: "ctypes", line: 3, stdout: "1\n"},
	{name: "handler raises another", text: guarded("except ImportError as e:\n    print('no')\n    raise RuntimeError('needs it') from e\n"), native: "line 3: import ctypes", refused: "ctypes", line: 3, stdout: "1\n"},
	{name: "handler raises SystemExit", text: guarded("except ImportError:\n    raise SystemExit('install it')\n"), native: "line 3: import ctypes", refused: "ctypes", line: 3, stdout: "1\n"},
	{name: "handler exits by sys.exit", text: guarded("except ImportError:\n    print('no')\n    sys.exit(1)\n"), native: "line 3: import ctypes", refused: "ctypes", line: 3, stdout: "1\n"},
	{name: "handler exits by exit", text: guarded("except ImportError:\n    exit('no')\n"), native: "line 3: import ctypes", refused: "ctypes", line: 3, stdout: "1\n"},
	{name: "handler exits by quit", text: guarded("except ImportError:\n    quit()\n"), native: "line 3: import ctypes", refused: "ctypes", line: 3, stdout: "1\n"},
	{name: "handler exits by os._exit", text: guarded("except ImportError:\n    os._exit(3)\n"), native: "line 3: import ctypes", refused: "ctypes", line: 3, stdout: "1\n"},
	{name: "handler may raise", text: guarded("except ImportError:\n    if len(sys.argv) > 5:\n        raise\n"), stdout: "1\n"},
	{name: "guard in a function", text: "def f():\n    try:\n        import ctypes\n    except ImportError:\n        return None\n    return 1\nf()\nprint(1)\n", stdout: "1\n"},
	{name: "guard around a function", text: "try:\n    def f():\n        import ctypes\nexcept ImportError:\n    pass\n", native: "line 3: import ctypes"},
	{name: "guarded and used unguarded", text: "try:\n    import ctypes\nexcept ImportError:\n    pass\nimport ctypes\n", native: "line 5: import ctypes", refused: "ctypes", line: 5},
	{name: "fallback not needed", text: "try:\n    import tomllib\nexcept ImportError:\n    import tomli as tomllib\nprint(tomllib.loads('a = 1'))\n", stdout: "{'a': 1}\n"},
	{name: "fallback in the library", text: "try:\n    import no_such_json as json\nexcept ImportError:\n    import json\nprint(json.dumps(1))\n", stdout: "1\n"},
	{name: "fallback not found either", text: "try:\n    import no_such_json as json\nexcept ImportError:\n    import no_other_json as json\n", native: "line 4: import no_other_json"},
	{name: "fallback absent", text: "try:\n    import msvcrt\nexcept ImportError:\n    import termios\n", native: "line 4: import termios"},
	{name: "fallbacks in a row", text: "try:\n    import no_one as m\nexcept ImportError:\n    try:\n        import no_two as m\n    except ImportError:\n        import json as m\nprint(m.dumps(1))\n", stdout: "1\n"},
	{name: "fallbacks in a row, the last absent", text: "try:\n    import no_one as m\nexcept ImportError:\n    try:\n        import no_two as m\n    except ImportError:\n        import ctypes as m\n", native: "line 7: import ctypes"},
	{name: "suppress", text: "import contextlib\nwith contextlib.suppress(ImportError):\n    import ctypes\nprint(1)\n", stdout: "1\n"},
	{name: "suppress from", text: "from contextlib import suppress\nwith suppress(OSError, Exception):\n    import ctypes\nprint(1)\n", stdout: "1\n"},
	{name: "suppress another", text: "from contextlib import suppress\nwith suppress(OSError):\n    import ctypes\n", native: "line 3: import ctypes", refused: "ctypes", line: 3},
	{name: "try, else", text: "try:\n    import ctypes\nexcept ImportError:\n    pass\nelse:\n    from ctypes import c_int\nprint(1)\n", stdout: "1\n"},
	{name: "try, finally", text: "try:\n    import ctypes\nfinally:\n    pass\n", native: "line 2: import ctypes", refused: "ctypes", line: 2},
	{name: "rest of a try", text: "try:\n    import ctypes\n    import subprocess\nexcept ImportError:\n    pass\nprint(1)\n", stdout: "1\n"},
	{name: "guarded and useless", text: "try:\n    import subprocess\nexcept ImportError:\n    subprocess = None\nprint(1)\n", native: "line 2: import subprocess", stdout: "1\n"},
	{name: "guarded, lacking name", text: "try:\n    from os import getuid\nexcept ImportError:\n    getuid = None\nprint(1)\n", stdout: "1\n"},
	{name: "guarded relative import", text: "try:\n    from . import tools\nexcept ImportError:\n    import tools\nprint(tools.x)\n", files: map[string]string{"tools.py": "x = 1\n"}, stdout: "1\n"},
}
