package remote

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
)

// TestSizes moves every size that a limit could be at, as files and as output: cases C143.
func TestSizes(t *testing.T) {
	p := launch(t, setup{})
	s := open(t, p.url(), &remote.Options{SessionOptions: remote.SessionOptions{Options: engine.Options{MaxOutput: -1}}})
	for _, n := range []int{0, 1, 4194303, 4194304, 4194305, 16777216, 16777217, 67108864} {
		if n > 20<<20 && testing.Short() {
			continue
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			data := bytes.Repeat([]byte("x"), n)
			if err := s.PutBytes(t.Context(), "f", data, nil); err != nil {
				t.Fatal(err)
			}
			got, err := s.GetBytes(t.Context(), "f", int64(n))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("GetBytes gives %d bytes, %v", len(got), err)
			}
			if n > 0 {
				got, err := s.GetBytes(t.Context(), "f", int64(n-1))
				large, ok := errors.AsType[*engine.TooLargeError](err)
				if len(got) > 0 || !ok || large.Size != int64(n) || large.Max != int64(n-1) {
					t.Errorf("GetBytes of one less gives %d bytes, %v, want TooLargeError with both sizes", len(got), err)
				}
			}
			out, err := s.Exec(t.Context(), fmt.Sprintf("print('y'*%d)", n), nil)
			if err != nil || sha256.Sum256(out.Stdout) != sha256.Sum256(append(bytes.Repeat([]byte("y"), n), '\n')) {
				t.Errorf("print of %d bytes gives %v, %v", n, out, err)
			}
		})
	}
}

// TestEndlessUpload ends with the session's limit, and not with the upload: cases C143.
func TestEndlessUpload(t *testing.T) {
	p := launch(t, setup{})
	s := open(t, p.url(), &remote.Options{SessionOptions: remote.SessionOptions{Options: engine.Options{Limits: engine.Limits{Disk: 1 << 20}}}})
	if err := s.PutReader(t.Context(), "endless", zeros{}, nil); !errors.Is(err, engine.ErrNoSpace) {
		t.Errorf("an endless upload: %v, want ErrNoSpace", err)
	}
	if _, err := s.Stat(t.Context(), "endless"); !errors.Is(err, engine.ErrNotExist) {
		t.Errorf("after it: %v, want that there is no such file", err)
	}
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

var _ io.Reader = zeros{}

// TestLargeScripts has what does not go through argv: cases C144.
func TestLargeScripts(t *testing.T) {
	p := launch(t, setup{})
	s := open(t, p.url(), &remote.Options{SessionOptions: remote.SessionOptions{Backend: "userns"}})
	for _, n := range []int{200_000, 5_000_000} {
		comment := "#" + strings.Repeat("x", n) + "\n"
		for typ, script := range map[engine.ScriptType]string{engine.Shell: "echo ok", engine.Python: "print('ok')"} {
			out, err := s.Exec(t.Context(), comment+script+"\n", &engine.RunOptions{Type: typ})
			if err != nil || string(out.Stdout) != "ok\n" {
				t.Errorf("%s of %d bytes: %v, %v", typ, n, out, err)
			}
		}
	}
	_, err := s.Exec(t.Context(), "echo ${#BIG}", &engine.RunOptions{Type: engine.Shell, Env: map[string]string{"BIG": strings.Repeat("v", 200_000)}})
	if invalid, ok := errors.AsType[*engine.InvalidError](err); !ok || !strings.HasPrefix(invalid.Field, "Env") {
		t.Errorf("a variable of 200 kB: %v, want InvalidError of Env", err)
	}
}

// TestManyPaths grants thousands of directories: cases C144. Bubblewrap takes 9,000 arguments, and several for each.
func TestManyPaths(t *testing.T) {
	if testing.Short() {
		t.Skip("mounts thousands of directories")
	}
	needBackend(t, sandbar.Bubblewrap)
	dir, err := os.MkdirTemp("/var/tmp", "paths") // each run has a /tmp of its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i := range 5000 {
		path := filepath.Join(dir, fmt.Sprintf("p%d", i))
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	p := launch(t, setup{})
	for backend, n := range map[string]int{"userns": 5000, "bubblewrap": 1500} {
		s := open(t, p.url(), &remote.Options{SessionOptions: remote.SessionOptions{Backend: backend, Options: engine.Options{ReadOnly: paths[:n]}}})
		out, err := s.Exec(t.Context(), fmt.Sprintf("ls %s | wc -l", dir), &engine.RunOptions{Type: engine.Shell})
		if err != nil || strings.TrimSpace(string(out.Stdout)) != fmt.Sprint(n) {
			t.Errorf("%s: %v, %v, want %d", backend, out, err, n)
		}
	}
}
