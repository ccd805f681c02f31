package imports

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mustDecode reads findings that are right.
func mustDecode(tb testing.TB, findings string) []Finding {
	tb.Helper()
	f, err := Decode([]byte(findings))
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// noFiles fails the test when it is asked.
type noFiles struct{ tb testing.TB }

func (n noFiles) Stat(name string) (Entry, error) { n.tb.Error("Stat", name); return Entry{}, nil }

func (n noFiles) List(name string) (Listing, error) { n.tb.Error("List", name); return Listing{}, nil }

func (n noFiles) Read(name string, _ int64) ([]byte, error) {
	n.tb.Error("Read", name)
	return nil, nil
}
func (n noFiles) Scan(name string) ([]Finding, error) { n.tb.Error("Scan", name); return nil, nil }

// memory is Files in memory: the content of a source file are its findings. A file whose content begins with "->" is a
// link to the path that follows, one with "!" has no findings but that error, one with "#" has this size in bytes.
type memory struct {
	files map[string]string
	links map[string]string
	scans map[string]int
}

func newMemory(files map[string]string) *memory {
	m := &memory{files: files, links: map[string]string{}, scans: map[string]int{}}
	for name, content := range files {
		if target, ok := strings.CutPrefix(content, "->"); ok {
			m.links[name] = target
		}
	}
	return m
}

// real follows links, of a file or of a directory above it.
func (m *memory) real(name string) string {
	for range 40 {
		next := name
		for at, target := range m.links {
			if rest, below := strings.CutPrefix(name, at); below && (rest == "" || rest[0] == '/') {
				next = join(target, strings.TrimPrefix(rest, "/"))
				next = strings.TrimSuffix(next, "/")
			}
		}
		if next == name {
			return name
		}
		name = next
	}
	return "\x00loop"
}

func (m *memory) Stat(name string) (Entry, error) {
	name = m.real(name)
	content, ok := m.files[name]
	switch {
	case ok && content == "fifo":
		return Entry{Type: OtherEntry}, nil
	case ok:
		size := int64(len(content))
		if strings.HasPrefix(content, "#") {
			size = int64(len(content)) << 20
		}
		return Entry{Type: RegularFile, Size: size}, nil
	}
	if l, _ := m.List(name); l.Exists {
		return Entry{Type: Directory}, nil
	}
	return Entry{}, nil
}

func (m *memory) List(name string) (Listing, error) {
	name = m.real(name)
	if _, ok := m.files[name]; ok {
		return Listing{}, nil
	}
	seen := map[string]bool{}
	for path := range m.files {
		if rest, ok := strings.CutPrefix("./"+path, join("./"+name, "")); ok || name == "." {
			if name == "." {
				rest = path
			}
			seen[top2(rest)] = true
		}
	}
	l := Listing{Exists: len(seen) > 0 || name == "."}
	for n := range seen {
		if n != "" {
			l.Names = append(l.Names, n)
		}
	}
	return l, nil
}

// top2 is the first part of a path.
func top2(path string) string {
	path, _, _ = strings.Cut(path, "/")
	return path
}

func (m *memory) Read(name string, most int64) ([]byte, error) {
	content, ok := m.files[m.real(name)]
	if !ok || int64(len(content)) > most {
		return nil, nil
	}
	return []byte(content), nil
}

var errBroken = errors.New("broken")

func (m *memory) Scan(name string) ([]Finding, error) {
	m.scans[name]++
	content := m.files[m.real(name)]
	switch {
	case content == "!syntax":
		return nil, ErrNotPython
	case content == "!broken":
		return nil, errBroken
	case strings.HasPrefix(content, "#"):
		return nil, nil
	}
	return Decode([]byte(content))
}

// disk is Files on a directory, where the content of a source file are its findings.
type disk struct{ Tree }

func newDisk(tb testing.TB, files map[string]string) disk {
	tb.Helper()
	dir := tb.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { root.Close() })
	return disk{Tree{Root: root}}
}

func (d disk) Scan(name string) ([]Finding, error) {
	b, err := d.Read(name, MaxSource)
	if err != nil {
		return nil, err
	}
	return Decode(b)
}
