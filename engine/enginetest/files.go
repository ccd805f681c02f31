package enginetest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
)

var fileTests = []test{
	{"from outside to the script", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		for _, name := range []string{"f", "dir/sub/f", "ü☃", "a b", "-n", "%2e%2e"} {
			put(t, session, name, "data of "+name)
			for _, path := range []string{"./" + name, engine.WorkDir + "/" + name} {
				if got := s.output(t, session, fmt.Sprintf(s.scripts.readf, path), nil); got != "data of "+name {
					t.Errorf("the script reads %q from %q", got, path)
				}
			}
		}
	}},
	{"from the script to outside", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		s.output(t, session, fmt.Sprintf(s.scripts.writef, "f", "data"), nil)
		s.output(t, session, fmt.Sprintf(s.scripts.appendf, engine.WorkDir+"/f", " and more"), nil)
		if got := get(t, session, "f"); got != "data and more" {
			t.Errorf("the file holds %q", got)
		}
		list, err := session.List(within(t), ".")
		if err != nil || len(list) != 1 || list[0].Name != "f" || list[0].Size != 13 {
			t.Errorf("List = %+v, %v", list, err)
		}
	}},
	{"the script may change what was put", func(t *testing.T, s *suite) { // cases C044
		session := s.open(t, nil)
		put(t, session, "f", "x")
		s.output(t, session, fmt.Sprintf(s.scripts.appendf, "f", "y"), nil)
		if got := get(t, session, "f"); got != "xy" {
			t.Errorf("the file holds %q", got)
		}
	}},
	{"mode", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		for _, mode := range []fs.FileMode{0, 0o755, 0o600} {
			if err := session.PutBytes(within(t), "f", nil, &engine.PutOptions{Mode: mode}); err != nil {
				t.Fatal(err)
			}
			fi, err := session.Stat(within(t), "f")
			want := mode
			if mode == 0 {
				want = 0o644
			}
			if err != nil || fi.Mode.Perm() != want {
				t.Errorf("mode %o is %o", want, fi.Mode.Perm())
			}
		}
	}},
	{"sizes", func(t *testing.T, s *suite) { // cases C143
		session := s.open(t, nil)
		for _, n := range []int{0, 1, 4_194_305, 16_777_216} {
			data := bytes.Repeat([]byte("x"), n)
			if err := session.PutReader(within(t), "f", bytes.NewReader(data), nil); err != nil {
				t.Fatal(err)
			}
			got, err := session.GetBytes(within(t), "f", int64(n))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes: %d, %v", n, len(got), err)
			}
			if n > 0 {
				_, err = session.GetBytes(within(t), "f", int64(n-1))
				wantErr(t, "GetBytes", err, engine.ErrTooLarge)
			}
		}
	}},
	{"links of the script that lead out", func(t *testing.T, s *suite) { // cases C032, C033
		session := s.open(t, nil)
		outside := t.TempDir()
		if err := os.WriteFile(filepath.Join(outside, "canary"), []byte("host-canary-51c2"), 0o644); err != nil {
			t.Fatal(err)
		}
		planted := 0
		for i, target := range []string{outside + "/canary", outside, "/etc", "/proc/self/environ", "../../../../../.." + outside + "/canary", "..", outside + "/new"} {
			name := fmt.Sprint("link", i)
			if out := s.exec(t, session, fmt.Sprintf(s.scripts.linkf, target, name), nil); out.Result.ExitCode != 0 {
				continue // to refuse the link is as good
			}
			planted++
			for _, path := range []string{name, name + "/canary", name + "/hostname", name + "/."} {
				data, err := session.GetBytes(within(t), path, 1<<20)
				wantErr(t, fmt.Sprintf("GetBytes of a link to %s", target), err, engine.ErrEscapes)
				if len(data) > 0 {
					t.Errorf("%q came back", data)
				}
				err = session.PutBytes(within(t), path, []byte("x"), nil)
				wantErr(t, fmt.Sprintf("PutBytes to a link to %s", target), err, engine.ErrEscapes)
			}
			if out := s.exec(t, session, fmt.Sprintf(s.scripts.readf, name), nil); bytes.Contains(out.Stdout, []byte("host-canary")) {
				t.Errorf("the script reads the canary by a link to %s", target)
			}
		}
		if list, _ := os.ReadDir(outside); len(list) != 1 {
			t.Errorf("outside: %v", list)
		}
		t.Logf("%d links could be made", planted)
	}},
	{"links inside lead to the same for both", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		put(t, session, "real/f", "data")
		for i, target := range []string{"real/f", "./real/../real/f", engine.WorkDir + "/real/f"} {
			name := fmt.Sprint("link", i)
			if out := s.exec(t, session, fmt.Sprintf(s.scripts.linkf, target, name), nil); out.Result.ExitCode != 0 {
				continue
			}
			if a, b := s.output(t, session, fmt.Sprintf(s.scripts.readf, name), nil), get(t, session, name); a != "data" || b != "data" {
				t.Errorf("a link to %s leads the script to %q, the file call to %q", target, a, b)
			}
		}
	}},
	{"disk limit", func(t *testing.T, s *suite) { // cases C045
		if !s.caps.Disk {
			t.Skip("not enforced here")
		}
		session := s.open(t, &engine.Options{Limits: engine.Limits{Disk: 1 << 20}})
		for range 2 {
			if got := s.output(t, session, fmt.Sprintf(s.scripts.fillf, "fill"), nil); got != "full\n" {
				t.Fatalf("the script wrote without end: %q", got)
			}
			total := int64(0)
			list, err := session.List(within(t), ".")
			if err != nil {
				t.Fatal(err)
			}
			for _, fi := range list {
				total += fi.Size
			}
			if total > 1<<20 || total < 1<<19 {
				t.Errorf("%d bytes exist under a limit of %d", total, 1<<20)
			}
			wantErr(t, "PutBytes", session.PutBytes(within(t), "more", make([]byte, 1<<19), nil), engine.ErrNoSpace)
			for _, fi := range list {
				if err := session.Remove(within(t), fi.Name); err != nil {
					t.Error(err)
				}
			}
		}
		put(t, session, "f", strings.Repeat("x", 1<<20))
		put(t, session, "f", strings.Repeat("y", 1<<20))
	}},
	{"limit of files", func(t *testing.T, s *suite) {
		if !s.caps.Disk {
			t.Skip("not enforced here")
		}
		session := s.open(t, &engine.Options{Limits: engine.Limits{DiskFiles: 50}})
		if got := s.output(t, session, s.scripts.many, nil); got != "full\n" {
			t.Fatalf("the script made files without end: %q", got)
		}
		if list, err := session.List(within(t), "."); err != nil || len(list) != 50 {
			t.Errorf("%d files, %v", len(list), err)
		}
		wantErr(t, "PutBytes", session.PutBytes(within(t), "more", nil, nil), engine.ErrNoSpace)
	}},
	{"temporary directory is bounded", func(t *testing.T, s *suite) { // cases C046
		if !s.caps.Tmp {
			t.Skip("not enforced here")
		}
		session := s.open(t, &engine.Options{Limits: engine.Limits{Tmp: 1 << 20, TmpFiles: 30}})
		if got := s.output(t, session, fmt.Sprintf(s.scripts.fillf, "/tmp/fill"), nil); got != "full\n" {
			t.Errorf("the script wrote without end: %q", got)
		}
		s.output(t, session, fmt.Sprintf(s.scripts.writef, "/tmp/f", "x"), nil) // it is empty again
	}},
}

var isolationTests = []test{
	{"the host's files", func(t *testing.T, s *suite) { // cases C114
		dir := t.TempDir()
		canary := filepath.Join(dir, "canary")
		if err := os.WriteFile(canary, []byte("host-canary-51c2"), 0o644); err != nil {
			t.Fatal(err)
		}
		session := s.open(t, nil)
		for _, path := range []string{canary, "../../../../../../../.." + canary, "/.." + canary, engine.WorkDir + "/../.." + canary, "x/../../../../../.." + canary} {
			out := s.exec(t, session, fmt.Sprintf(s.scripts.readf, path), nil)
			if out.Result.ExitCode == 0 || bytes.Contains(out.Stdout, []byte("host-canary")) {
				t.Errorf("%q gives %q", path, out.Stdout)
			}
			s.exec(t, session, fmt.Sprintf(s.scripts.writef, path+"-new", "x"), nil)
		}
		if list, _ := os.ReadDir(dir); len(list) != 1 {
			t.Errorf("the script made files on the host: %v", list)
		}
	}},
	{"granted paths", func(t *testing.T, s *suite) {
		dir, err := os.MkdirTemp("/var/tmp", "enginetest-") // not in /tmp: that is the script's own
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		for _, name := range []string{"ro", "rw", "none"} {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name, "f"), []byte("data"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		session := s.open(t, &engine.Options{ReadOnly: []string{dir + "/ro"}, ReadWrite: []string{dir + "/rw"}})
		for _, name := range []string{"ro", "rw"} {
			if got := s.output(t, session, fmt.Sprintf(s.scripts.readf, dir+"/"+name+"/f"), nil); got != "data" {
				t.Errorf("%s: %q", name, got)
			}
		}
		s.output(t, session, fmt.Sprintf(s.scripts.writef, dir+"/rw/new", "x"), nil)
		if got, err := os.ReadFile(dir + "/rw/new"); string(got) != "x" || err != nil {
			t.Errorf("what the script wrote is %q, %v", got, err)
		}
		for _, path := range []string{"ro/new", "ro/f", "new", "none/new"} {
			s.exec(t, session, fmt.Sprintf(s.scripts.writef, dir+"/"+path, "x"), nil)
		}
		for _, path := range []string{"none/f", "rw/../none/f"} {
			if out := s.exec(t, session, fmt.Sprintf(s.scripts.readf, dir+"/"+path), nil); out.Result.ExitCode == 0 {
				t.Errorf("%s was not granted, and gives %q", path, out.Stdout)
			}
		}
		for path, want := range map[string]string{"ro/f": "data", "ro/new": "", "new": "", "none/new": ""} {
			if got, _ := os.ReadFile(filepath.Join(dir, path)); string(got) != want {
				t.Errorf("%s holds %q", path, got)
			}
		}
		_, err = session.GetBytes(within(t), dir+"/ro/f", 10)
		wantErr(t, "GetBytes of a granted path", err, engine.ErrEscapes)
	}},
	{"granted files and links", func(t *testing.T, s *suite) {
		dir, err := os.MkdirTemp("/var/tmp", "enginetest-")
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		for _, name := range []string{"ro", "rw", "near", "behind/f"} {
			file := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("data"), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("behind", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		session := s.open(t, &engine.Options{ReadOnly: []string{dir + "/ro", dir + "/link"}, ReadWrite: []string{dir + "/rw"}})
		for _, path := range []string{"ro", "rw", "link/f"} {
			if got := s.output(t, session, fmt.Sprintf(s.scripts.readf, dir+"/"+path), nil); got != "data" {
				t.Errorf("%s: %q", path, got)
			}
			s.exec(t, session, fmt.Sprintf(s.scripts.appendf, dir+"/"+path, "more"), nil)
		}
		for _, path := range []string{"near", "behind/f"} {
			if out := s.exec(t, session, fmt.Sprintf(s.scripts.readf, dir+"/"+path), nil); out.Result.ExitCode == 0 {
				t.Errorf("%s was not granted, and gives %q", path, out.Stdout)
			}
		}
		for path, want := range map[string]string{"ro": "data", "rw": "datamore", "behind/f": "data"} {
			if got, _ := os.ReadFile(filepath.Join(dir, path)); string(got) != want {
				t.Errorf("%s holds %q", path, got)
			}
		}
	}},
	{"granted parts of the system", func(t *testing.T, s *suite) {
		if !s.caps.Native {
			t.Skip("a script has no system")
		}
		// With and without links on the way; some of them are in a cell anyway.
		for _, path := range []string{"/bin/ls", "/etc/hostname", "/etc/localtime", "/etc/os-release", "/etc/services"} {
			want, err := os.ReadFile(path)
			if err != nil {
				continue // not on this host
			}
			session := s.open(t, &engine.Options{ReadOnly: []string{path}})
			if got := s.output(t, session, fmt.Sprintf(s.scripts.readf, path), nil); got != string(want) {
				t.Errorf("%s is granted, and holds %.100q", path, got)
			}
		}
	}},
	{"two sessions", func(t *testing.T, s *suite) {
		a, b := s.open(t, nil), s.open(t, nil)
		s.output(t, a, fmt.Sprintf(s.scripts.writef, "f", "of a"), nil)
		if got := s.output(t, b, fmt.Sprintf(s.scripts.existsf, "f"), nil); got != "no\n" {
			t.Errorf("the other session has the file: %q", got)
		}
		if a.ID() == b.ID() || a.Info().HostDir != "" && a.Info().HostDir == b.Info().HostDir {
			t.Error("two sessions share an id or a work directory")
		}
	}},
}
