package imports

// packageRows are about virtual environments.
var packageRows = []row{
	{name: "pure package", script: "import 1 - 0 0 0 pkg\n", files: map[string]string{site + "pkg/__init__.py": "from 1 - 0 0 1 . sub\n", site + "pkg/sub.py": "import 1 - 0 0 0 re\n"}},
	{name: "compiled package", script: "import 3 - 0 0 0 numpy\n", files: map[string]string{
		site + "numpy/__init__.py": "from 1 - 0 0 1 . _core\n", site + "numpy/_core/__init__.py": "from 1 - 0 0 1 . multiarray\n",
		site + "numpy/_core/multiarray.py": "from 1 - 0 0 1 . _multiarray_umath\n", site + "numpy/_core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so": "",
	}, auto: "line 3: import numpy: compiled for the native tier (" + site + "numpy/_core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so)", sure: true},
	{name: "package on a compiled package", script: "import 3 - 0 0 0 pandas\n", files: map[string]string{
		site + "numpy/__init__.py": "from 1 - 0 0 1 . core\n", site + "numpy/core.so": "", site + "pandas/__init__.py": "import 1 - 0 0 0 numpy\n",
	}, auto: "line 3: import pandas: pandas > numpy > numpy.core: compiled for the native tier (" + site + "numpy/core.so)", sure: true},
	{name: "compiled init", script: "import 1 - 0 0 0 pkg.sub\n", files: map[string]string{site + "pkg/__init__.cpython-311-x86_64-linux-gnu.so": "", site + "pkg/sub.py": ""}, auto: "line 1: import pkg.sub: compiled for the native tier (" + site + "pkg/__init__.cpython-311-x86_64-linux-gnu.so)", sure: true},
	{name: "optional speedups", script: "import 1 - 0 0 0 markupsafe\n", files: map[string]string{
		site + "markupsafe/__init__.py": "from 1 - 1 0 1 _speedups escape\nfrom 2 m 0 1 1 _native escape\n", site + "markupsafe/_speedups.cpython-311-x86_64-linux-gnu.so": "", site + "markupsafe/_native.py": "",
	}},
	{name: "speedups without a way out", script: "import 1 - 0 0 0 p\n", files: map[string]string{
		site + "p/__init__.py": "from 1 - 1 0 1 _speedups escape\nfrom 2 m 0 1 0 nothing escape\n", site + "p/_speedups.so": "",
	}, auto: "line 1: import p: p > nothing" + lostReason},
	{name: "source beside compiled", script: "import 1 - 0 0 0 p.md\n", files: map[string]string{site + "p/__init__.py": "", site + "p/md.py": "", site + "p/md.cpython-311-x86_64-linux-gnu.so": ""}},
	{name: "library's function", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + "p.py": "import 1 m 0 0 0 ctypes\nimport 2 m 0 0 0 nothing\n"}},
	{name: "library's useless import", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + "p.py": "import 1 - 0 0 0 subprocess\nimport 2 - 0 0 0 socket\n"}},
	{name: "library's use", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + "p.py": "use 1 c threading.Thread\n"}},
	{name: "library's absent import", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + "p.py": "import 1 - 0 0 0 ssl\n"}, auto: "line 1: import p: p > ssl: this tier has no OpenSSL", sure: true},
	{name: "library's missing import", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + "p.py": "import 1 - 0 0 0 q\n"}, auto: "line 1: import p: p > q" + lostReason},
	{name: "library's lacking name", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + "p.py": "from 1 - 0 0 0 os getuid\n"}, auto: "line 1: import p: p > os.getuid: this tier has no user accounts"},
	{name: "library's unknown name", script: "from 1 - 0 0 0 p x\n", files: map[string]string{site + "p.py": ""}},
	{name: "cwd before site-packages", script: "import 1 - 0 0 0 p\n", files: map[string]string{"p.py": "", site + "p.py": "import 1 - 0 0 0 ssl\n"}},
	{name: "library before site-packages", script: "import 1 - 0 0 0 json\n", files: map[string]string{site + "json.py": "import 1 - 0 0 0 ssl\n"}},
	{name: "site-packages in place of an absent module", script: "import 1 - 0 0 0 readline\n", files: map[string]string{site + "readline.py": ""}},
	{name: "namespace over two folders", script: "import 1 - 0 0 0 n.a\nimport 2 - 0 0 0 n.b\n", files: map[string]string{"n/a.py": "", site + "n/b.py": "import 1 - 0 0 0 ssl\n"}, auto: "line 2: import n.b: n.b > ssl: this tier has no OpenSSL", sure: true},
	{name: "package beats a namespace of cwd", script: "import 1 - 0 0 0 n\n", files: map[string]string{"n/data.csv": "", site + "n/__init__.py": "import 1 - 0 0 0 ssl\n"}, auto: "line 1: import n: n > ssl: this tier has no OpenSSL", sure: true},
	{name: "no venv", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + "p.py": ""}, config: func(c *Config) { c.Venv = "" }, auto: "line 1: import p" + lostReason},
	{name: "another venv", script: "import 1 - 0 0 0 p\n", files: map[string]string{"env/lib/python3.13/site-packages/p.py": ""}, config: func(c *Config) { c.Venv = "env" }},
	{name: "lib64", script: "import 1 - 0 0 0 p\nimport 2 - 0 0 0 q\n", files: map[string]string{site + "p.py": "", ".venv/lib64/python3.11/site-packages/q.py": ""}},
	{name: "lib64 is lib", script: "import 1 - 0 0 0 p\n", files: map[string]string{".venv/lib64": "->.venv/lib", site + "p.py": ""}},
	{name: "two Pythons", script: "import 1 - 0 0 0 p\nimport 2 - 0 0 0 q\n", files: map[string]string{".venv/lib/python3.12/site-packages/p.py": "", ".venv/lib/python3.9/site-packages/q.py": "", ".venv/lib/python2.7/site-packages/r.py": ""}},
	{name: "Python 2", script: "import 1 - 0 0 0 r\n", files: map[string]string{".venv/lib/python2.7/site-packages/r.py": ""}, auto: "line 1: import r" + lostReason},
	{name: "pth", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + "x.pth": "# a comment\n\nimport os; os.system('x')\n/tmp/sandbox-work/src\n", "src/p.py": "import 1 - 0 0 0 ssl\n"}, auto: "line 1: import p: p > ssl: this tier has no OpenSSL", sure: true},
	{name: "pth is the user's own", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + "x.pth": "/tmp/sandbox-work/src", "src/p.py": "import 1 m 0 0 0 ssl\n"}, auto: "line 1: import p: p > ssl: this tier has no OpenSSL"},
	{name: "pth, relative", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + "x.pth": "../../../../src\r\nvendor\n", site + "vendor/p.py": "", "src/q.py": ""}},
	{name: "pth out of the work directory", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + "x.pth": "/usr/lib\n../../../../../../etc\n/tmp/sandbox-work/../x\n/tmp/sandbox-workers\n", "x/p.py": "", "../../etc/p.py": ""}, auto: "line 1: import p" + lostReason},
	{name: "pth, hidden", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + ".x.pth": "/tmp/sandbox-work/src", "src/p.py": ""}, auto: "line 1: import p" + lostReason},
	{name: "pth names a file", script: "import 1 - 0 0 0 p\n", files: map[string]string{site + "x.pth": "/tmp/sandbox-work/src", "src": ""}, auto: "line 1: import p" + lostReason},
}
