//go:build routing

package routingtests

// placeScripts have an import at each place of a script that can have one.
var placeScripts = []script{
	{name: "in a function", text: "def f():\n    import ctypes\nprint(1)\n", native: "line 2: import ctypes", stdout: "1\n"},
	{name: "in an async function", text: "async def f():\n    import ctypes\n", native: "line 2: import ctypes"},
	{name: "in a nested function", text: "def f():\n    def g():\n        import ctypes\n", native: "line 3: import ctypes"},
	{name: "in a method", text: "class C:\n    def f(self):\n        import ctypes\n", native: "line 3: import ctypes"},
	{name: "in a class body", text: "class C:\n    import ctypes\n", native: "line 2: import ctypes", refused: "ctypes", line: 2},
	{name: "in a branch", text: "import sys\nif len(sys.argv) > 5:\n    import ctypes\n", native: "line 3: import ctypes"},
	{name: "in an else", text: "import sys\nif len(sys.argv) > 5:\n    pass\nelif sys.argv:\n    import ctypes\nelse:\n    import fcntl\n", native: "line 5: import ctypes"},
	{name: "if main", text: "if __name__ == '__main__':\n    import ctypes\n", native: "line 2: import ctypes", refused: "ctypes", line: 2},
	{name: "if main, library", text: "def main():\n    import json\n    return json.dumps(1)\nif __name__ == '__main__':\n    print(main())\n", stdout: "1\n"},
	{name: "in a for", text: "for i in range(0):\n    import ctypes\n", native: "line 2: import ctypes"},
	{name: "in a while", text: "while False:\n    import ctypes\n", native: "line 2: import ctypes"},
	{name: "in a with", text: "with open('/dev/null') as f:\n    import ctypes\n", native: "line 2: import ctypes", refused: "ctypes", line: 2},
	{name: "in a match", text: "match 1:\n    case 1:\n        import ctypes\n", native: "line 3: import ctypes"},
	{name: "match, library", text: "import re\nmatch re.match('(a)', 'a').groups():\n    case (x,):\n        print(x)\n", stdout: "a\n"},
	{name: "in a lambda", text: "f = lambda: __import__('ctypes')\n", native: "line 1: import ctypes"},
	{name: "in a comprehension", text: "x = [__import__('ctypes') for _ in range(1)]\n", native: "line 1: import ctypes", either: true, refused: "ctypes", line: 1},
	{name: "in a conditional expression", text: "x = __import__('ctypes') if 1 else None\n", native: "line 1: import ctypes", either: true, refused: "ctypes", line: 1},
	{name: "in an f-string", text: "print(f\"{__import__('ctypes').sizeof(__import__('ctypes').c_int)}\")\n", native: "line 1: import ctypes", either: true, refused: "ctypes", line: 1, stdout: "4\n"},
	{name: "in a walrus", text: "if (c := __import__('ctypes')):\n    print(1)\n", native: "line 1: import ctypes", either: true, refused: "ctypes", line: 1, stdout: "1\n"},
	{name: "in a default", text: "def f(c=__import__('ctypes')): pass\n", native: "line 1: import ctypes", either: true, refused: "ctypes", line: 1},
	{name: "in a decorator", text: "@(lambda f: __import__('ctypes') and f)\ndef f(): pass\n", native: "line 1: import ctypes"},
	{name: "in a finally", text: "try:\n    pass\nfinally:\n    import ctypes\n", native: "line 4: import ctypes", refused: "ctypes", line: 4},
	{name: "global in a function", text: "def f():\n    global ctypes\n    import ctypes\n", native: "line 3: import ctypes"},
	{name: "after an exit", text: "import sys\nprint(1, flush=True)\nsys.exit(0)\nimport json\n", stdout: "1\n"},
	{name: "type checking", text: "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy\n    from ctypes import c_int\nprint(1)\n", stdout: "1\n"},
	{name: "type checking, dotted", text: "import typing\nif typing.TYPE_CHECKING:\n    import numpy\nprint(1)\n", stdout: "1\n"},
	{name: "type checking, renamed", text: "import typing as t\nif t.TYPE_CHECKING:\n    import ctypes\nprint(1)\n", stdout: "1\n"},
	{name: "type checking, else", text: "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import json\nelse:\n    import ctypes\n", native: "line 5: import ctypes", either: true, refused: "ctypes", line: 5},
	{name: "generics and decorators", text: "import functools\n@functools.cache\ndef f[T](x: T, /, *a, k=1, **kw) -> T: return x\nclass C[T](list[T]): pass\nprint(f(C([1])[0] if (n := 1) else n), [*map(lambda v: v * 2, {1})])\n", stdout: "1 [2]\n"},
}
