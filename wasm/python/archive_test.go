package python

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The header of a .pyc of CPython 3.13 (Include/internal/pycore_magic_number.h) that is never compared with its
// source (PEP 552): bit 0 of the flags means that it holds a hash, bit 1 that the hash is to be checked.
const (
	pycMagic      = 0x0a0d0df3
	pycUnchecked  = 0b01
	pycHeaderSize = 16
)

func library(t *testing.T) *zip.Reader {
	t.Helper()
	r, err := Library()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func unpack(t *testing.T, f *zip.File) []byte {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r) // checks the CRC-32
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return b
}

func TestLibrary_Names(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range library(t).File {
		folder, rest, _ := strings.Cut(f.Name, "/")
		switch {
		case folder != LibraryFolder && folder != ZoneinfoFolder:
			t.Errorf("%s: in neither folder", f.Name)
		case rest == "" || path.Clean(f.Name) != f.Name || strings.Contains(f.Name, "\\"):
			t.Errorf("%q: no plain name", f.Name)
		case seen[f.Name]:
			t.Errorf("%s: twice", f.Name)
		case !f.Mode().IsRegular() || f.Mode().Perm() != 0o644:
			t.Errorf("%s: mode %v", f.Name, f.Mode())
		}
		seen[f.Name] = true
	}
}

// Each module is there as source and compiled, and the interpreter believes the compiled one.
func TestLibrary_Compiled(t *testing.T) {
	sources, compiled := map[string]bool{}, map[string]bool{}
	for _, f := range library(t).File {
		switch path.Ext(f.Name) {
		case ".py":
			sources[f.Name] = true
		case ".pyc":
			dir, base := path.Split(f.Name)
			name := path.Dir(path.Clean(dir)) + "/" + strings.TrimSuffix(base, ".cpython-313.pyc") + ".py"
			compiled[name] = true
			checkCompiled(t, f.Name, "/usr/lib/python3.13/"+strings.TrimPrefix(name, LibraryFolder+"/"), unpack(t, f))
		}
	}
	for name := range sources {
		if !compiled[name] {
			t.Errorf("%s: not compiled", name)
		}
	}
	for name := range compiled {
		if !sources[name] {
			t.Errorf("%s: compiled, but not there as source", name)
		}
	}
	if len(sources) < 400 {
		t.Errorf("only %d modules", len(sources))
	}
}

func checkCompiled(t *testing.T, name, file string, b []byte) {
	t.Helper()
	if len(b) < pycHeaderSize {
		t.Errorf("%s: %d bytes", name, len(b))
		return
	}
	if magic := binary.LittleEndian.Uint32(b); magic != pycMagic {
		t.Errorf("%s: magic number %#x", name, magic)
	}
	if flags := binary.LittleEndian.Uint32(b[4:]); flags != pycUnchecked {
		t.Errorf("%s: flags %#b", name, flags)
	}
	if !bytes.Contains(b, []byte(file)) {
		t.Errorf("%s: does not name its source as %s", name, file)
	}
}

func TestLibrary_LeftOut(t *testing.T) {
	names := map[string]bool{}
	for _, f := range library(t).File {
		names[f.Name] = true
		if strings.Contains(f.Name, "/test/") || strings.Contains(f.Name, "/tests/") {
			t.Errorf("%s: a test", f.Name)
		}
	}
	for _, gone := range []string{"idlelib/__init__.py", "tkinter/__init__.py", "turtle.py", "ensurepip/__init__.py", "ctypes/__init__.py"} {
		if names[LibraryFolder+"/"+gone] {
			t.Errorf("%s is there", gone)
		}
	}
	for _, there := range []string{
		"python/os.py", "python/json/__init__.py", "python/asyncio/base_events.py", "python/sqlite3/dbapi2.py", "python/_sandbar_runner.py",
		"zoneinfo/Europe/Zurich", "zoneinfo/UTC", "zoneinfo/America/New_York", "zoneinfo/US/Eastern",
	} {
		if !names[there] {
			t.Errorf("%s is not there", there)
		}
	}
}

// homes are where people and machines build things. Built files name the prefix /build instead.
var homes = regexp.MustCompile(`/(root|home|Users|work|workspace|mnt|srv|opt)/[A-Za-z0-9._-]+`)

// No path of the machine that built them is in the artefacts.
func TestArtefacts_NoBuildPaths(t *testing.T) {
	module, err := Interpreter()
	if err != nil {
		t.Fatal(err)
	}
	here := machinePaths(t)
	checkPaths(t, interpreterName, module, here)
	for _, f := range library(t).File {
		if strings.HasPrefix(f.Name, LibraryFolder+"/") {
			checkPaths(t, f.Name, unpack(t, f), here)
		}
	}
}

// machinePaths are paths of the machine that runs the test, which often is the one that built.
func machinePaths(t *testing.T) []string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{dir}
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		paths = append(paths, home+"/")
	}
	return paths
}

func checkPaths(t *testing.T, name string, content []byte, here []string) {
	t.Helper()
	// Paths that CPython's own sources name.
	known := []string{"/opt/local", "/opt/homebrew", "/opt/python"}
	for _, p := range here {
		if bytes.Contains(content, []byte(p)) {
			t.Errorf("%s: has the path %s", name, p)
		}
	}
	for _, found := range homes.FindAll(content, -1) {
		if !slices.Contains(known, string(found)) {
			t.Errorf("%s: has the path %s", name, found)
		}
	}
}
