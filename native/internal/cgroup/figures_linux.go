package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// figures reads what a group uses, on descriptors that stay open: each figure is one system call. A descriptor is -1
// where there is no such file.
type figures struct {
	files files

	mu      sync.Mutex
	closed  bool
	peak    int
	cpu     int
	events  int
	resets  bool    // a write to peak resets it
	base    reading // at the last Reset
	scratch [1024]byte
}

// reading is what the kernel's counters say: the CPU time in files.cpuUnit, the peak of memory in bytes, the processes
// killed. Unknown where they do not say it.
type reading struct{ cpu, peak, kills int64 }

// newFigures is for a new group, whose counters are zero.
func newFigures(f files) *figures {
	return &figures{files: f, peak: -1, cpu: -1, events: -1, base: reading{peak: Unknown}}
}

// open opens the files of a group in one hierarchy.
func (f *figures) open(t tree) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if t.has(controllerCPU) {
		if f.cpu, err = open(filepath.Join(t.dir, f.files.cpu), unix.O_RDONLY); err != nil {
			return err
		}
	}
	if !t.has(controllerMemory) {
		return nil
	}
	if f.events, err = open(filepath.Join(t.dir, f.files.events), unix.O_RDONLY); err != nil {
		return err
	}
	return f.openPeak(filepath.Join(t.dir, f.files.peak))
}

// resetsPeak reports whether the mark of the most memory in this file can be reset.
func resetsPeak(path string) bool {
	fd, err := open(path, unix.O_RDWR)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return resetPeak(fd, path) == nil
}

// openPeak opens the mark of the most memory. In version 2 it came with Linux 5.19, and its reset, which is of the
// descriptor and not of the group, with 6.12.
func (f *figures) openPeak(path string) error {
	var err error
	if f.peak, err = open(path, unix.O_RDWR); err == nil {
		f.resets = resetPeak(f.peak, f.files.peak) == nil
		return nil
	}
	if f.peak, err = open(path, unix.O_RDONLY); errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

func (f *figures) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, fd := range []*int{&f.peak, &f.cpu, &f.events} {
		if *fd >= 0 {
			_ = unix.Close(*fd) // nothing was written that could be lost
		}
		*fd = -1
	}
}

// Reset begins a run: [Group.Usage] counts from here. It is three system calls. It does not change the limits.
func (g *Group) Reset() error {
	f := g.figures
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return fmt.Errorf("cgroup: reset: %w", os.ErrClosed)
	}
	if f.resets {
		if err := resetPeak(f.peak, f.files.peak); err != nil {
			return fmt.Errorf("cgroup: reset: %w", err)
		}
	}
	base, err := f.read(!f.resets)
	if err != nil {
		return fmt.Errorf("cgroup: reset: %w", err)
	}
	f.base = base
	return nil
}

// Usage tells what the group used since Reset. It may be called while processes run. It is three system calls.
func (g *Group) Usage() (Usage, error) {
	unknown := Usage{CPU: Unknown, PeakMemory: Unknown, OOMKills: Unknown}
	f := g.figures
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return unknown, fmt.Errorf("cgroup: usage: %w", os.ErrClosed)
	}
	now, err := f.read(true)
	if err != nil {
		return unknown, fmt.Errorf("cgroup: usage: %w", err)
	}
	return f.since(now), nil
}

// since returns what was used between base and now.
func (f *figures) since(now reading) Usage {
	u := Usage{CPU: Unknown, PeakMemory: now.peak, OOMKills: Unknown}
	if now.cpu != Unknown {
		u.CPU = time.Duration(now.cpu-f.base.cpu) * f.files.cpuUnit
	}
	if now.kills != Unknown {
		u.OOMKills = now.kills - f.base.kills
	}
	// A mark that cannot be reset tells about this run only if this run raised it.
	if !f.resets && now.peak == f.base.peak {
		u.PeakMemory = Unknown
	}
	return u
}

// read reads the counters, the peak only if wanted. f.mu is held.
func (f *figures) read(peak bool) (reading, error) {
	r := reading{cpu: Unknown, peak: Unknown, kills: Unknown}
	var errs [3]error
	if f.cpu >= 0 {
		r.cpu, errs[0] = f.readNumber(f.cpu, f.files.cpu, f.files.cpuKey)
	}
	if f.events >= 0 {
		r.kills, errs[1] = f.readNumber(f.events, f.files.events, "oom_kill")
	}
	if f.peak >= 0 && peak {
		r.peak, errs[2] = f.readNumber(f.peak, f.files.peak, "")
	}
	return r, errors.Join(errs[:]...)
}

// readNumber reads the number behind a key, or the only one when key is empty. A key that is not there is Unknown:
// oom_kill came with Linux 4.13.
func (f *figures) readNumber(fd int, name, key string) (int64, error) {
	for {
		n, err := unix.Pread(fd, f.scratch[:], 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return Unknown, pathError("read", name, err)
		}
		text := f.scratch[:n]
		if key != "" {
			if v, ok := value(text, key); ok {
				return v, nil
			}
			return Unknown, nil
		}
		if v, ok := number(text); ok {
			return v, nil
		}
		return Unknown, fmt.Errorf("read %s: no number: %.40q", name, text)
	}
}

// resetPeak sets the mark to what the group has now. Version 1 wants a zero, version 2 takes any text.
func resetPeak(fd int, name string) error {
	for {
		_, err := unix.Pwrite(fd, zero, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return pathError("write 0 to", name, err)
	}
}

var zero = []byte("0")
