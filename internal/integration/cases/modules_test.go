package cases

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
)

// C130: the modules that scripts want are there, or are missing with an ImportError. The full list is
// ../corpus/modules.golden.
func TestModules_Wanted(t *testing.T) {
	out := exec(t, open(t, nil), `
import importlib
have = """threading _thread asyncio select sqlite3 zlib gzip zipfile bz2 lzma hashlib signal uuid decimal xml.etree.ElementTree pyexpat csv json unicodedata
zoneinfo tempfile shutil pathlib glob struct array statistics fractions dataclasses typing urllib.parse concurrent.futures _decimal _sqlite3 _md5 _sha2""".split()
for m in have:
    try: importlib.import_module(m)
    except Exception as e: print(m, "-", type(e).__name__, e)
for m in "ssl socket subprocess multiprocessing ctypes curses readline tkinter mmap pwd grp fcntl termios resource syslog urllib.request http.client ensurepip venv".split():
    try: importlib.import_module(m)
    except ImportError as e: pass
    except Exception as e: print(m, "-", type(e).__name__, e)
`, nil)
	checkPrinted(t, out, "")
}

// C132: time zones and encodings.
func TestModules_TimeZones(t *testing.T) {
	mustPrint(t, `
from zoneinfo import ZoneInfo, available_timezones
import datetime, locale, sys
print(datetime.datetime(2024, 7, 1, tzinfo=ZoneInfo("Europe/Zurich")).utcoffset(), len(available_timezones()) > 400, ZoneInfo("UTC"))
print(sys.getfilesystemencoding().lower(), locale.getpreferredencoding().lower(), "é☃𝄞")
`, lines("2:00:00 True UTC", "utf-8 utf-8 é☃𝄞"))
}

// C133: packages that are not there are missing as in any Python; one that is put there imports.
func TestModules_Packages(t *testing.T) {
	session := open(t, nil)
	put := func(name string, data []byte) {
		if err := session.PutBytes(t.Context(), name, data, nil); err != nil {
			t.Fatal(err)
		}
	}
	put("wheel.whl", wheel(t))
	put("plain/helper/__init__.py", []byte("from .inner import y"))
	put("plain/helper/inner.py", []byte("y = 'from a folder'"))
	put("beside.py", []byte("z = 'beside the script'"))
	out := exec(t, session, `
import sys
for m in ("numpy", "pandas", "matplotlib", "requests", "yaml"):
    try: __import__(m); print(m, "ok")
    except ModuleNotFoundError as e: print(e)
sys.path.insert(0, "wheel.whl")
sys.path.append("plain")
import toy, helper, beside
print(toy.x, helper.y, beside.z)
import importlib.metadata, importlib.resources
print(importlib.metadata.version("toy"), importlib.resources.files("toy").joinpath("data.txt").read_text())
`, nil)
	checkPrinted(t, out, lines("No module named 'numpy'", "No module named 'pandas'", "No module named 'matplotlib'", "No module named 'requests'", "No module named 'yaml'",
		"from a wheel from a folder beside the script", "1.5 resource"))
}

// wheel makes a wheel of a package "toy".
func wheel(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for name, text := range map[string]string{
		"toy/__init__.py":            "from toy.deep import x",
		"toy/deep.py":                "x = 'from a wheel'",
		"toy/data.txt":               "resource",
		"toy-1.5.dist-info/METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1.5\n",
		"toy-1.5.dist-info/RECORD":   "",
	} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// C138: no sockets, in a run of this tier: the refusal is an exception, at once.
func TestModules_Sockets(t *testing.T) {
	out := exec(t, open(t, nil), `
try:
    import urllib.request
    print("OPEN", urllib.request.urlopen("http://127.0.0.1:9/", timeout=3).status)
except Exception as e: print("refused", type(e).__name__, e)
try:
    import socket; socket.create_connection(("127.0.0.1", 9), 3); print("OPEN")
except Exception as e: print("refused", type(e).__name__, e)
`, nil)
	if strings.Contains(out.Stdout, "OPEN") || strings.Count(out.Stdout, "refused") != 2 || out.Result.ExitCode != 0 {
		t.Errorf("stdout %q, stderr %q", out.Stdout, out.Stderr)
	}
	t.Logf("%s", out.Stdout)
}
