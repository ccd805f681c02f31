//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

func withUmask(t *testing.T, mask int) {
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

func TestFiles_SpecialFilesAreNotOpened(t *testing.T) { // cases C036
	s, _ := open(t, nil)
	dir := s.Info().HostDir
	must(t, syscall.Mkfifo(filepath.Join(dir, "p"), 0o666), os.Symlink("p", filepath.Join(dir, "link")))
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	must(t, err)
	defer l.Close()
	goroutines := runtime.NumGoroutine()
	for range 200 {
		for _, path := range []string{"p", "s", "link"} {
			_, err := s.GetBytes(t.Context(), path, 10)
			wantErr(t, "GetBytes", err, ErrNotRegular)
			wantErr(t, "PutBytes", s.PutBytes(t.Context(), path, []byte("x"), nil), ErrNotRegular)
		}
	}
	if now := runtime.NumGoroutine(); now > goroutines+5 {
		t.Errorf("%d goroutines, %d before", now, goroutines)
	}
	_, err = s.List(t.Context(), "p")
	wantErr(t, "List", err, ErrNotDirectory)
	_, err = s.GetBytes(t.Context(), "p/x", 1)
	wantErr(t, "GetBytes below a FIFO", err, ErrNotDirectory)
}

// To open a FIFO lets someone go on who waits for a reader, and waits for one who writes.
func TestFiles_FIFOIsLeftAlone(t *testing.T) {
	s, _ := open(t, nil)
	path := filepath.Join(s.Info().HostDir, "p")
	must(t, syscall.Mkfifo(path, 0o666))
	var opened atomic.Bool
	done := make(chan error)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		opened.Store(true)
		f.Close()
		done <- err
	}()
	for range 200 {
		_, _ = s.GetBytes(t.Context(), "p", 10)
		runtime.Gosched()
	}
	// As a script does that puts it in the place of a directory at the right time.
	failed := make(chan error)
	go func() {
		dir, err := openDir(s.files.root, "p")
		if err == nil {
			dir.Close()
		}
		failed <- err
	}()
	if err := <-failed; err == nil {
		t.Error("a FIFO was opened as a directory")
	}
	if opened.Load() {
		t.Error("a file call opened the FIFO")
	}
	r, err := os.OpenFile(path, os.O_RDONLY, 0)
	must(t, err, <-done)
	r.Close()
}

// A script that swaps what a path leads to, as fast as it can, gains nothing: no canary, no write outside,
// and no call that blocks on a FIFO.
func TestFiles_SwappedMeanwhile(t *testing.T) {
	outside := t.TempDir()
	must(t, os.WriteFile(outside+"/f", []byte(canary), 0o644))
	s, _ := open(t, nil)
	dir := s.Info().HostDir
	must(t, os.Mkdir(dir+"/a", 0o755), os.WriteFile(dir+"/a/f", []byte("good"), 0o644), os.Symlink(outside, dir+"/b"), syscall.Mkfifo(dir+"/c", 0o666))
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			for _, other := range []string{"/b", "/c"} {
				_ = os.Rename(dir+"/a", dir+"/x")
				_ = os.Rename(dir+other, dir+"/a")
				_ = os.Rename(dir+"/a", dir+other)
				_ = os.Rename(dir+"/x", dir+"/a")
			}
		}
	})
	wg.Go(func() {
		for !stop.Load() {
			_ = os.Remove(dir + "/g")
			_ = os.Symlink(outside+"/g", dir+"/g")
			_ = os.Remove(dir + "/g")
			_ = syscall.Mkfifo(dir+"/g", 0o666)
		}
	})
	for i := range 500 {
		if data, _ := s.GetBytes(t.Context(), "a/f", 100); string(data) == canary {
			t.Fatal("read a file outside")
		}
		_ = s.PutBytes(t.Context(), fmt.Sprintf("a/f%d", i%10), []byte("x"), nil)
		_ = s.PutBytes(t.Context(), "g", []byte("x"), nil)
		_, _ = s.GetBytes(t.Context(), "g", 100)
		_, _ = s.List(t.Context(), "a")
		_ = s.RemoveAll(t.Context(), "a/f1")
	}
	stop.Store(true)
	wg.Wait()
	if list, _ := os.ReadDir(outside); len(list) != 1 {
		t.Errorf("outside: %v", list)
	}
}

// Who executes a file right after it was put never gets ETXTBSY, whatever else is forked meanwhile.
func TestFiles_PutAndExecute(t *testing.T) { // cases C165
	if os.Getuid() != 0 && runtime.GOOS != "linux" {
		t.Skip("needs a directory where files can be executed")
	}
	s, _ := open(t, nil)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for j := range 10 {
				name := fmt.Sprintf("tool-%d-%d", i, j)
				if err := s.PutBytes(t.Context(), name, []byte("#!/bin/sh\necho ok\n"), &PutOptions{Mode: 0o755}); err != nil {
					t.Error(err)
					return
				}
				out, err := osexec.CommandContext(t.Context(), filepath.Join(s.Info().HostDir, name)).Output()
				if string(out) != "ok\n" || err != nil {
					t.Errorf("%q, %v", out, err)
				}
			}
		})
	}
	wg.Wait()
}

// Root reads and removes everything, so this runs as another user.
func TestSession_CloseRemovesUnreadableTrees(t *testing.T) { // cases C044
	if os.Getuid() == 0 && os.Getenv("ENGINE_TEST_CHILD") == "" {
		dir, err := os.MkdirTemp("/tmp", "engine-test-") // t.TempDir is below a directory of root
		must(t, err)
		defer func() { _ = os.RemoveAll(dir) }()
		exe, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			t.Skip(err)
		}
		must(t, os.WriteFile(dir+"/test", exe, 0o755), os.Chmod(dir, 0o777))
		cmd := osexec.CommandContext(t.Context(), dir+"/test", "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Dir = dir
		cmd.Env = []string{"ENGINE_TEST_CHILD=1", "TMPDIR=" + dir}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("as another user: %v\n%s", err, out)
		}
		return
	}
	s, _ := open(t, &Options{Limits: Limits{Disk: 1 << 20}})
	dir := s.Info().HostDir
	put(t, s, "keep/x", "x")
	must(t,
		os.MkdirAll(dir+"/d/e/f", 0o755), os.WriteFile(dir+"/d/e/f/g", nil, 0o000), os.MkdirAll(dir+"/d/empty", 0o000),
		os.Symlink("/", dir+"/d/e/link"),
		os.Chmod(dir+"/d/e/f", 0o000), os.Chmod(dir+"/d/e", 0o500), os.Chmod(dir+"/d", 0o000),
		os.MkdirAll(dir+"/other/sub", 0o755), os.Chmod(dir+"/other", 0o000),
	)
	_, err := s.GetBytes(t.Context(), "d/e/f/g", 1)
	wantErr(t, "GetBytes", err, fs.ErrPermission)
	must(t, s.RemoveAll(t.Context(), "other"))
	_, err = s.Run(context.Background(), "hello", &RunOptions{Cwd: "d"})
	wantField(t, "cwd without permissions", err, "Cwd")
	must(t, os.Chmod(dir, 0o000))
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("work directory: %v", err)
	}
}
