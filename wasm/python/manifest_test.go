package python

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

func readManifest(t *testing.T) *Manifest {
	t.Helper()
	m, err := ReadManifest()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What is embedded is what the manifest says.
func TestManifest_Artefacts(t *testing.T) {
	m := readManifest(t)
	module, err := Interpreter()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]byte{"python.wasm.zst": interpreter, "stdlib.zip": stdlib, interpreterName: module}
	if want := slices.Sorted(maps.Keys(m.Artefacts)); !slices.Equal(want, slices.Sorted(maps.Keys(got))) {
		t.Errorf("the manifest has the artefacts %q", want)
	}
	for name, content := range got {
		want := m.Artefacts[name]
		sum := sha256.Sum256(content)
		if hex.EncodeToString(sum[:]) != want.SHA256 || len(content) != want.Bytes {
			t.Errorf("%s: %d bytes, sha256 %x; the manifest says %d and %s", name, len(content), sum, want.Bytes, want.SHA256)
		}
	}
}

func TestManifest_Version(t *testing.T) {
	m := readManifest(t)
	if m.Python != Version {
		t.Errorf("the manifest is about Python %s, Version is %s", m.Python, Version)
	}
	if s := m.Sources["python3.13"]; !strings.HasPrefix(s.Version, Version+"-") {
		t.Errorf("the source package is %s, Version is %s", s.Version, Version)
	}
	if want := "/usr/lib/python" + Version[:strings.LastIndexByte(Version, '.')]; LibraryPath != want {
		t.Errorf("LibraryPath = %s, want %s", LibraryPath, want)
	}
}

// The manifest was made from the sources.lock that is in the tree.
func TestManifest_SourcesLock(t *testing.T) {
	m := readManifest(t)
	lock, err := os.ReadFile("build/sources.lock")
	if err != nil {
		t.Fatal(err)
	}
	sources, files := map[string]Source{}, map[string]string{}
	for line := range strings.Lines(string(lock)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			t.Fatalf("sources.lock: %q", line)
		}
		switch f[0] {
		case "source", "binary":
			sources[f[1]] = Source{Kind: f[0], Version: f[2], Licence: m.Sources[f[1]].Licence}
		case "file":
			files[f[2]] = f[1]
		default:
			t.Errorf("sources.lock: %q", line)
		}
	}
	if !maps.Equal(sources, m.Sources) {
		t.Errorf("sources.lock has the packages %v, the manifest %v", sources, m.Sources)
	}
	if !maps.Equal(files, m.Files) {
		t.Errorf("sources.lock has the files %v, the manifest %v", files, m.Files)
	}
	for name, sum := range files {
		if b, err := hex.DecodeString(sum); err != nil || len(b) != sha256.Size {
			t.Errorf("%s: %q is no SHA-256", name, sum)
		}
	}
}

// Every source has a licence, and every source package has its files pinned.
func TestManifest_Complete(t *testing.T) {
	m := readManifest(t)
	for name, s := range m.Sources {
		if s.Licence == "" {
			t.Errorf("%s: no licence", name)
		}
		ending := ".dsc"
		if s.Kind == "binary" {
			ending = ".deb"
		}
		found := false
		for file := range m.Files {
			found = found || strings.HasPrefix(file, name+"_") && strings.HasSuffix(file, ending)
		}
		if !found {
			t.Errorf("%s: no %s file is pinned", name, ending)
		}
	}
	for name, licence := range m.Bundled {
		if licence == "" {
			t.Errorf("%s: no licence", name)
		}
	}
}

func TestInterpreter_Fresh(t *testing.T) {
	a, err := Interpreter()
	if err != nil {
		t.Fatal(err)
	}
	if string(a[:4]) != "\x00asm" {
		t.Fatalf("the interpreter begins with %q", a[:4])
	}
	a[0] = 'x'
	b, err := Interpreter()
	if err != nil {
		t.Fatal(err)
	}
	if b[0] != 0 {
		t.Error("a caller's change reached the next caller")
	}
}

func TestID(t *testing.T) {
	sum := sha256.Sum256(manifest)
	if ID() != hex.EncodeToString(sum[:]) {
		t.Errorf("ID() = %s", ID())
	}
}
