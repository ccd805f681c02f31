package differential

import (
	"archive/zip"
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/testneed"
)

// wheel is a package that needs no building: PEP 427. Its files are given as names and contents by turns.
func wheel(t *testing.T, name, version string, files ...string) []byte {
	t.Helper()
	info := name + "-" + version + ".dist-info/"
	files = append(
		files,
		info+"METADATA", "Metadata-Version: 2.1\nName: "+name+"\nVersion: "+version+"\nSummary: for a test\n",
		info+"WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n", info+"RECORD", "",
	)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// openVenv opens a session with both tiers and a virtual environment.
func openVenv(t *testing.T, p *place) *workspace {
	t.Helper()
	testneed.Feature(t, "python3-venv", exec.Command(hostPath, "-c", "import venv, pip").Run())
	return openBoth(t, p, &engine.Options{Venv: true, Limits: engine.Limits{OpenFiles: 1024}})
}

// install installs a wheel with pip, natively and without an index.
func (w *workspace) install(name, version string, files ...string) {
	w.t.Helper()
	file := name + "-" + version + "-py3-none-any.whl"
	if err := w.PutBytes(w.t.Context(), file, wheel(w.t, name, version, files...), nil); err != nil {
		w.t.Fatal(err)
	}
	w.shell("pip install --quiet --no-index --no-deps --force-reinstall ./" + file + " && rm " + file)
}

func eachVenv(t *testing.T, test func(w *workspace)) {
	for _, p := range natives {
		t.Run(p.name, func(t *testing.T) { test(openVenv(t, p)) })
	}
}

// What is installed natively imports in both tiers, with its data, its metadata and its entry points.
func TestVenv_Pure(t *testing.T) {
	eachVenv(t, func(w *workspace) {
		w.shell("true")
		w.prints(w.python("try: import inside\nexcept ModuleNotFoundError as e: print(e.name)"), "inside\n")
		w.install("inside", "1.2",
			"inside/__init__.py", "from .part import VALUE\n", "inside/part.py", "VALUE = 42\n", "inside/sub/__init__.py", "", "inside/sub/deep.py", "from .. import VALUE as UP\n",
			"inside/data/text.txt", "some data\n", "single.py", "NAME = __name__\n", "space/plugin.py", "HERE = True\n",
			"inside-1.2.dist-info/entry_points.txt", "[console_scripts]\ninside = inside:main\n[example.plugins]\nfirst = inside.part:VALUE\n",
		)
		const script = `
import importlib.metadata as m, importlib.resources as r, pkgutil
import inside, single, space.plugin
from inside.sub.deep import UP
print(inside.VALUE, UP, single.NAME, space.plugin.HERE, inside.__file__.startswith("/tmp/sandbox-work/.venv/lib/python3"))
print((r.files("inside") / "data" / "text.txt").read_text(), sorted(x.name for x in pkgutil.iter_modules(inside.__path__)), pkgutil.get_data("inside", "data/text.txt"))
print(m.version("inside"), m.metadata("inside")["Summary"], [e.load() for e in m.entry_points(group="example.plugins")], any(str(f).endswith("part.py") for f in m.files("inside")))
try: m.version("not-there")
except m.PackageNotFoundError as e: print(type(e).__name__)
`
		const want = "42 42 single True True\nsome data\n ['part', 'sub'] b'some data\\n'\n1.2 for a test [42] True\nPackageNotFoundError\n"
		w.prints(w.python(script), want)
		w.prints(w.shell(`exec python3 -c "$1"`, script), want)

		// From a directory below the work directory as well.
		w.shell("mkdir below")
		out := execute(w.t, w.Session, "import inside, os; print(inside.VALUE, os.getcwd())", &engine.RunOptions{Type: engine.Python, Cwd: "below"})
		w.prints(string(out.Stdout), "42 /tmp/sandbox-work/below\n")
	})
}

// The next run has what was installed, replaced and removed between runs.
func TestVenv_Changes(t *testing.T) {
	eachVenv(t, func(w *workspace) {
		for _, version := range []string{"1", "2.5"} {
			w.install("inside", version, "inside.py", "VALUE = '"+version+"'\n")
			w.prints(w.python("import inside, importlib.metadata as m; print(inside.VALUE, m.version('inside'))"), version+" "+version+"\n")
		}
		w.shell("pip uninstall --quiet --yes inside")
		w.prints(w.python("try: import inside\nexcept ModuleNotFoundError as e: print(e.name)"), "inside\n")
	})
}

// Code for the machine does not import in the wasm tier: the error is Python's own, and fallbacks work.
func TestVenv_Compiled(t *testing.T) {
	eachVenv(t, func(w *workspace) {
		so := "\x7fELF not really"
		w.install("fast", "1", "fast/__init__.py", "from ._impl import f\n", "fast/_impl.abi3.so", so, "lone.abi3.so", so,
			"maybe/__init__.py", "try:\n    from ._speed import f\nexcept ImportError:\n    def f(): return 'slow'\n", "maybe/_speed.abi3.so", so,
			"other.cpython-311-x86_64-linux-gnu.so", so, "other.cpython-312-x86_64-linux-gnu.so", so, "other.cpython-313-x86_64-linux-gnu.so", so, "other.cpython-313-wasm32-wasi.so", so, "other.so", so)
		w.prints(w.python(`
import importlib.util
import maybe
print(maybe.f())
for name in ("fast", "lone", "fast._impl", "other"):
    try: __import__(name); print("imported", name)
    except ImportError as e: print("no", e.name.rpartition(".")[2])
`), "slow\nno _impl\nno lone\nno _impl\nno other\n")
		w.prints(w.shell(`python3 -c 'import importlib.util as u; print(u.find_spec("lone") is not None)'`), "True\n")
	})
}

// A .pth file adds folders; its other lines are not run in the wasm tier.
func TestVenv_Pth(t *testing.T) {
	eachVenv(t, func(w *workspace) {
		w.shell(`mkdir -p extra '.venv/with space'; echo 'VALUE = "extra"' > extra/added.py; echo 'VALUE = "beside"' > '.venv/with space/beside.py'
site=$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '/tmp/sandbox-work/extra\n# a comment\n\n../../../with space\n/etc\n/not/there\nimport sys; sys.ran_from_pth = True\n' > "$site/more.pth"
ln -s /etc/passwd "$site/link.pth"; mkfifo "$site/fifo.pth"; printf '\377\376' > "$site/bad.pth"; rm "$site/fifo.pth"`)
		w.prints(w.python("import added, beside, sys; print(added.VALUE, beside.VALUE, hasattr(sys, 'ran_from_pth'))"), "extra beside False\n")
	})
}

// The order is that of native Python: the script's own modules, the standard library, then what is installed.
func TestVenv_Order(t *testing.T) {
	eachVenv(t, func(w *workspace) {
		w.install("shadow", "1", "shadow.py", "WHO = 'installed'\n", "textwrap.py", "WHO = 'installed'\n", "own.py", "WHO = 'installed'\n")
		if err := w.PutBytes(w.t.Context(), "own.py", []byte("WHO = 'mine'\n"), nil); err != nil {
			w.t.Fatal(err)
		}
		const script = "import own, shadow, textwrap; print(own.WHO, shadow.WHO, hasattr(textwrap, 'WHO'))"
		w.prints(w.python(script), "mine installed False\n")
	})
}

// uv installs what imports, too.
func TestVenv_UV(t *testing.T) {
	eachVenv(t, func(w *workspace) {
		if strings.TrimSpace(w.shell("command -v uv || true")) == "" {
			testneed.Feature(w.t, "uv", errors.New("not installed where a script finds it"))
		}
		if err := w.PutBytes(w.t.Context(), "inside-1-py3-none-any.whl", wheel(w.t, "inside", "1", "inside.py", "VALUE = 7\n"), nil); err != nil {
			w.t.Fatal(err)
		}
		w.shell("uv pip install --quiet --offline --no-index ./inside-1-py3-none-any.whl")
		w.prints(w.python("import inside; print(inside.VALUE)"), "7\n")
	})
}

// A session without the option has no such folder on its path, although one may lie there.
func TestVenv_NotAsked(t *testing.T) {
	w := openBoth(t, inUserns, &engine.Options{})
	w.shell("mkdir -p .venv/lib/python3.13/site-packages; echo x=1 > .venv/lib/python3.13/site-packages/inside.py")
	w.prints(w.python("import sys\ntry: import inside\nexcept ModuleNotFoundError: print('absent')\nprint(any('.venv' in p for p in sys.path))"), "absent\nFalse\n")
}
