package routingtests

import "strings"

// textScripts are about the text of the script: its encoding, its size, and whether it is Python.
var textScripts = []script{
	{name: "syntax error", text: "import ctypes\ndef (:\n", code: 1},
	{name: "Python 2", text: "import ctypes\nprint 'x'\n", code: 1},
	{name: "bad indent", text: "import json\n  import ctypes\n", code: 1},
	{name: "late syntax error", text: "import ctypes\nreturn 1\n", code: 1},
	{name: "unknown encoding", text: "# coding: no-such-code\nimport ctypes\n", code: 1},
	{name: "latin-1", text: "# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))\n", stdout: "'\\xe9'\n"},
	{name: "latin-1, obstacle", text: "# -*- coding: latin-1 -*-\ns = '\xe9'\nimport ctypes\nprint(ascii(s))\n", native: "line 3: import ctypes", refused: "ctypes", line: 3, stdout: "'\\xe9'\n"},
	{name: "UTF-8 with a mark", text: "\xef\xbb\xbfimport json\nprint(json.dumps('é'))\n", stdout: "\"\\u00e9\"\n"},
	{name: "UTF-8 with a mark, obstacle", text: "\xef\xbb\xbfimport ctypes\nprint(1)\n", native: "line 1: import ctypes", refused: "ctypes", line: 1, stdout: "1\n"},
	{name: "invalid UTF-8", text: "import ctypes\nx = '\xff\xfe'\n", code: 1},
	{name: "invalid UTF-8 in a comment", text: "# \xff\nimport json\n", code: 1},
	{name: "letters", text: "import json as größe\nprint(größe.dumps(1))\n", stdout: "1\n"},
	{name: "letters that are normalised", text: "import ﬃnder\nprint(ffinder.x)\n", files: map[string]string{"ffinder.py": "x = 1\n"}, stdout: "1\n"},
	{name: "CRLF", text: "import os\r\nimport ctypes\r\nprint(1)\r\n", native: "line 2: import ctypes", refused: "ctypes", line: 2, stdout: "1\n"},
	{name: "no newline at the end", text: "import os\nimport ctypes", native: "line 2: import ctypes", refused: "ctypes", line: 2},
	{name: "form feed and tabs", text: "\x0cimport json\nif 1:\n\tprint(json.dumps(1))\n", stdout: "1\n"},
	{name: "first line of a shell", text: "#!/usr/bin/env python3\nimport ctypes\n", native: "line 2: import ctypes", refused: "ctypes", line: 2},
	{name: "1 MB of comments", text: strings.Repeat("# import ctypes\n", 1<<16) + "print(1)\n", stdout: "1\n"},
	{name: "1 MB of comments, obstacle", text: strings.Repeat("# comment ----\n", 1<<16) + "import ctypes\nprint(1)\n", native: "line 65537: import ctypes", refused: "ctypes", line: 65537, stdout: "1\n"},
	{name: "1 MB of data", text: "x = [\n" + strings.Repeat("    'import ctypes',\n", 50000) + "]\nprint(len(x))\n", stdout: "50000\n"},
	{name: "one long line", text: "x = '" + strings.Repeat("import ctypes;", 75000) + "'\nprint(len(x))\n", stdout: "1050000\n"},
	{name: "many imports", text: strings.Repeat("import json, csv, re\n", 5000) + "print(1)\n", stdout: "1\n"},
	{name: "deep nesting", text: "x = " + strings.Repeat("(", 150) + "1" + strings.Repeat(")", 150) + "\nprint(x)\n", stdout: "1\n"},
	{name: "too deep nesting", text: "import ctypes\nx = " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + "\n", code: 1},
}
