package filter

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() { children["life"] = lifeChild }

// TestInstall_life: an ordinary Go program lives under the filter.
func TestInstall_life(t *testing.T) {
	needSeccomp(t)
	out, err := inChild(t, "life")
	if err != nil {
		t.Error(err)
	}
	if got, want := string(out), "threads files tcp udp unix interfaces command signal timer status "; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}

func lifeChild([]string) int {
	if err := errors.Join(dropRoot(), install()); err != nil {
		return complain(err)
	}
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"threads", lifeThreads},
		{"files", lifeFiles},
		{"tcp", func() error { return lifeStream("tcp", "127.0.0.1:0") }},
		{"udp", lifeDatagrams},
		{"unix", func() error { return lifeStream("unix", "socket") }},
		{"interfaces", lifeInterfaces},
		{"command", lifeCommand},
		{"signal", lifeSignal},
		{"timer", lifeTimer},
		{"status", lifeStatus},
	} {
		if err := part.run(); err != nil {
			return complain(fmt.Errorf("%s: %w", part.name, err))
		}
		fmt.Fprint(os.Stdout, part.name, " ")
	}
	return 0
}

// lifeThreads makes threads of the kernel and garbage.
func lifeThreads() error {
	var group sync.WaitGroup
	sum := make(chan int, 32)
	for i := range 32 {
		group.Go(func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			b := make([]byte, 1<<20)
			time.Sleep(time.Millisecond)
			sum <- len(b) + i
		})
	}
	group.Wait()
	runtime.GC()
	total := 0
	for range 32 {
		total += <-sum
	}
	if want := 32<<20 + 31*32/2; total != want {
		return fmt.Errorf("sum %d, want %d", total, want)
	}
	return nil
}

func lifeFiles() error {
	if err := os.MkdirAll("a/b", 0o700); err != nil {
		return err
	}
	if err := os.WriteFile("a/b/c", []byte("text"), 0o600); err != nil {
		return err
	}
	if err := errors.Join(os.Rename("a/b/c", "a/d"), os.Symlink("d", "a/e"), os.Chmod("a/d", 0o640), os.Link("a/d", "a/f")); err != nil {
		return err
	}
	if text, err := os.ReadFile("a/e"); err != nil || string(text) != "text" {
		return fmt.Errorf("read %q: %w", text, err)
	}
	names, err := filepath.Glob("a/*")
	if err != nil || len(names) != 4 {
		return fmt.Errorf("names %v: %w", names, err)
	}
	return os.RemoveAll("a")
}

// lifeStream echoes over a listener. Go asks for MPTCP first and takes TCP when that is refused.
func lifeStream(network, address string) error {
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	defer l.Close()
	served := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, err = io.Copy(conn, conn)
			err = errors.Join(err, conn.Close())
		}
		served <- err
	}()
	conn, err := net.Dial(network, l.Addr().String())
	if err != nil {
		return err
	}
	if _, err := conn.Write([]byte("hello")); err != nil {
		return err
	}
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		return err
	}
	text, err := io.ReadAll(conn)
	if err != nil || string(text) != "hello" {
		return fmt.Errorf("echo %q: %w", text, err)
	}
	return errors.Join(conn.Close(), <-served)
}

func lifeDatagrams() error {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.WriteTo([]byte("hello"), conn.LocalAddr()); err != nil {
		return err
	}
	b := make([]byte, 16)
	n, _, err := conn.ReadFrom(b)
	if err != nil || string(b[:n]) != "hello" {
		return fmt.Errorf("datagram %q: %w", b[:n], err)
	}
	return nil
}

// lifeInterfaces needs a netlink socket.
func lifeInterfaces() error {
	list, err := net.Interfaces()
	if err != nil || len(list) == 0 {
		return fmt.Errorf("interfaces %v: %w", list, err)
	}
	return nil
}

func lifeCommand() error {
	out, err := exec.Command("/bin/sh", "-c", "echo hello | cat; exit 3").Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || string(out) != "hello\n" {
		return fmt.Errorf("command wrote %q: %w", out, err)
	}
	return nil
}

func lifeSignal() error {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGUSR1)
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		return err
	}
	<-got
	return nil
}

func lifeTimer() error {
	<-time.After(time.Millisecond)
	return nil
}

// lifeStatus looks at every thread: none may be without the filter.
func lifeStatus() error {
	tasks, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(tasks) < 2 {
		return fmt.Errorf("tasks %v: %w", tasks, err)
	}
	for _, file := range tasks {
		status, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue // the thread has ended
		}
		if err != nil {
			return err
		}
		for _, want := range []string{"\nSeccomp:\t2\n", "\nNoNewPrivs:\t1\n"} {
			if !strings.Contains(string(status), want) {
				return fmt.Errorf("%s has no %q", file, want)
			}
		}
	}
	return nil
}
