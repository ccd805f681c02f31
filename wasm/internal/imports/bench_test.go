package imports

import (
	"strings"
	"testing"
)

// scriptOf5kB is what the guest finds in a script of some 5 kB that imports nothing but the library.
const scriptOf5kB = `import 1 - 0 0 0 argparse
import 2 - 0 0 0 collections
import 3 - 0 0 0 csv
import 4 - 0 0 0 dataclasses
import 5 - 0 0 0 datetime
import 6 - 0 0 0 json
import 7 - 0 0 0 logging
import 8 - 0 0 0 os
import 9 - 0 0 0 re
import 10 - 0 0 0 sys
from 11 - 0 0 0 pathlib Path
from 12 - 0 0 0 typing Any
from 12 - 0 0 0 typing Iterable
from 13 - 0 0 0 collections.abc Mapping
from 14 - 0 0 0 concurrent futures
use 20 - collections.OrderedDict
use 21 mc json.loads
use 22 mc json.dumps
use 30 mc os.path.join
use 31 m os.environ
use 31 mc os.environ.get
use 32 mc re.compile
use 40 mc datetime.datetime.now
use 41 mc pathlib.Path
use 42 mc csv.DictReader
use 50 mc logging.getLogger
use 51 c dataclasses.dataclass
use 60 mc collections.defaultdict
use 61 mc sys.exit
use 62 mc argparse.ArgumentParser
`

// A decision about a script that imports the library alone looks at no file: none of Files is called.
func BenchmarkDecide_Library(b *testing.B) {
	benchDecide(b, scriptOf5kB, Config{Files: noFiles{b}, Auto: true})
}

// With Shadow the current directory is listed.
func BenchmarkDecide_Shadow(b *testing.B) {
	benchDecide(b, scriptOf5kB, Config{Files: newDisk(b, map[string]string{"data.csv": "", "helper.py": ""}), Auto: true, Shadow: true})
}

// One module of the user's, and one obstacle in a virtual environment.
func BenchmarkDecide_Files(b *testing.B) {
	files := newDisk(b, map[string]string{
		"helper.py": "import 1 - 0 0 0 json\n", ".venv/lib/python3.11/site-packages/numpy/__init__.py": "from 1 - 0 0 1 . _core\n",
		".venv/lib/python3.11/site-packages/numpy/_core/__init__.py":                                "from 1 - 0 0 1 . multiarray\n",
		".venv/lib/python3.11/site-packages/numpy/_core/multiarray.cpython-311-x86_64-linux-gnu.so": "",
	})
	benchDecide(b, scriptOf5kB+"import 70 - 0 0 0 helper\nimport 71 - 0 0 0 numpy\n", Config{Files: files, Venv: ".venv", Auto: true})
}

func BenchmarkDecode(b *testing.B) {
	findings := []byte(scriptOf5kB)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(findings); err != nil {
			b.Fatal(err)
		}
	}
}

func benchDecide(b *testing.B, findings string, cfg Config) {
	b.Helper()
	b.ReportAllocs()
	if err := Prepare(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		script, err := Decode([]byte(findings))
		if err != nil {
			b.Fatal(err)
		}
		if o, err := Decide(script, cfg); err != nil || (o != nil) != strings.Contains(findings, "numpy") {
			b.Fatal(o, err)
		}
	}
}
