package wasm

import (
	"os"
	"path/filepath"
	"testing"
)

// compiledFile is the file of machine code that wazero keeps.
func compiledFile(tb testing.TB, c goodCache) string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(c.file("compiled"), "*", "*"))
	if err != nil || len(files) != 1 {
		tb.Fatalf("files of machine code: %q, %v", files, err)
	}
	return files[0]
}

// compiledDamage is what can have become of the file of machine code.
type compiledDamage struct {
	name string
	run  bool // a script is run too
	do   func(tb testing.TB, path string)
}

// machineCode is the damage that is left to wazero's own checksum.
const machineCode = "machine code"

// Machine code that is not as it was written is not run. wazero's own check covers a part of the file only, so the
// runs are processes of their own: a jump to anywhere would end them, or not end.
func TestCache_CompiledDamage(t *testing.T) {
	tests := []compiledDamage{
		// Offsets of functions in the machine code: they come before it, and wazero has no checksum of them.
		{"offset of a function", true, func(tb testing.TB, path string) { edit(tb, path, flip(0.0005, 1)) }},
		{"many offsets", false, func(tb testing.TB, path string) {
			edit(tb, path, func(b []byte) []byte {
				for i := 100; i < 60_000; i += 8 {
					b[i] ^= 0x10
				}
				return b
			})
		}},
		{"number of functions", false, func(tb testing.TB, path string) {
			edit(tb, path, func(b []byte) []byte { b[len("WAZEVO")+1+int(b[len("WAZEVO")])+2] ^= 0x40; return b })
		}},
		{machineCode, true, func(tb testing.TB, path string) { edit(tb, path, flip(0.5, 0)) }},
		{"last bytes", false, func(tb testing.TB, path string) { edit(tb, path, flip(1, 0)) }},
		{"half", false, func(tb testing.TB, path string) { edit(tb, path, func(b []byte) []byte { return b[:len(b)/2] }) }},
		{"empty", false, func(tb testing.TB, path string) { edit(tb, path, func([]byte) []byte { return nil }) }},
		{"directory", true, func(tb testing.TB, path string) {
			remove(tb, path)
			if err := os.Mkdir(path, 0o700); err != nil {
				tb.Fatal(err)
			}
		}},
	}
	for _, tt := range append(tests, compiledDamages...) {
		t.Run(tt.name, func(t *testing.T) {
			c := freshCache(t)
			tt.do(t, compiledFile(t, c))
			if passes := (cache{dir: filepath.Dir(c.file("compiled"))}).compiledGood(); passes != (tt.name == machineCode) {
				t.Errorf("it passes for good: %v", passes)
			}
			if !tt.run || testing.Short() {
				return
			}
			hash, warnings := parseReport(t, mustRun(t, child(t, "prepare", c.top)))
			if hash != c.hash || len(warnings) != 0 {
				t.Errorf("hash %s, want %s; warnings %q", hash, c.hash, warnings)
			}
			sameFile(t, compiledFile(t, c), compiledFile(t, good(t)[0]))
		})
	}
}

// compiledDamages are those that not all systems know.
var compiledDamages []compiledDamage

// Two processes that prepare the same empty cache at once both work, and leave a good cache.
func TestCache_TwoProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the interpreter")
	}
	top := filepath.Join(t.TempDir(), "new", "cache")
	first := child(t, "prepare", top)
	first.Stderr = os.Stderr
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	_, warnings := parseReport(t, mustRun(t, child(t, "prepare", top)))
	var report [4096]byte
	n, err := out.Read(report[:])
	if err != nil {
		t.Error(err)
	}
	_, others := parseReport(t, string(report[:n]))
	if err := first.Wait(); err != nil {
		t.Error(err)
	}
	if len(warnings) != 0 || len(others) != 0 {
		t.Errorf("warnings %q and %q", warnings, others)
	}
	a, warnings := mustWork(t, top)
	b, _ := mustWork(t, top)
	if a != b || len(warnings) != 0 {
		t.Errorf("hashes %s and %s, warnings %q: the cache is not used", a, b, warnings)
	}
	if a == good(t)[0].hash {
		t.Error("two images have the same hash seed")
	}
}
