package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// watchEvery is how often a file is looked at when it is used.
	watchEvery = time.Second
	// settled is how old a change must be for a file's time to tell the next one apart. File systems stamp by a tick of some
	// milliseconds, the coarsest by two seconds: until then the file is read anew.
	settled = 3 * time.Second
	// maxConfig is the size of the largest file that is read, in bytes.
	maxConfig = 4 << 20
)

// A watched is what a file says, read anew when the file changes. A file that can no longer be read or parsed leaves the last
// content in force, and that is logged. Its methods may be called by several goroutines at once.
type watched[T any] struct {
	path   string
	parse  func(text []byte) (T, error)
	logger *slog.Logger
	now    func() time.Time

	content atomic.Pointer[T]
	notes   atomic.Pointer[[]string]

	mu      sync.Mutex
	next    time.Time   // when to look again
	seen    fs.FileInfo // of what was read last
	settled bool
	problem string // what was logged last
}

// watch reads the file for the first time. Nil logger: none.
func watch[T any](path string, logger *slog.Logger, parse func([]byte) (T, error)) (*watched[T], error) {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	w := &watched[T]{path: path, parse: parse, logger: logger, now: time.Now}
	if err := w.read(); err != nil {
		return nil, err
	}
	w.next = w.now().Add(watchEvery)
	return w, nil
}

// get is the content. It looks at the file at most once a second. A caller never waits for another one that does: it gets what
// was in force before.
func (w *watched[T]) get() T {
	if w.mu.TryLock() {
		if now := w.now(); !now.Before(w.next) {
			w.look()
			w.next = w.now().Add(watchEvery)
		}
		w.mu.Unlock()
	}
	return *w.content.Load()
}

// warnings say what is weak about the file, though not wrong.
func (w *watched[T]) warnings() []string { return *w.notes.Load() }

// look reads the file if it is not what was read last. mu is held.
func (w *watched[T]) look() {
	info, err := os.Stat(w.path)
	if err == nil && w.settled && same(info, w.seen) {
		return
	}
	before := w.seen
	if err == nil {
		err = w.read()
	}
	switch {
	case err == nil:
		if w.problem != "" || !same(before, w.seen) {
			w.logger.Info("file read again", "file", w.path)
		}
		w.problem = ""
	case err.Error() != w.problem: // once for each problem, and not every second
		w.problem = err.Error()
		w.logger.Error("file not usable, what it said before stays in force", "file", w.path, "err", err)
	}
}

func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// read reads and parses the file. mu is held, but by watch, which is alone.
func (w *watched[T]) read() error {
	text, info, err := readConfig(w.path)
	if info != nil {
		// Of a file that is not usable too: it is not read again until it changes.
		w.seen, w.settled = info, w.now().Sub(info.ModTime()) > settled
	}
	if err != nil {
		return err
	}
	content, err := w.parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", w.path, err)
	}
	var notes []string
	if othersRead(info.Mode()) {
		notes = append(notes, fmt.Sprintf("%s: users other than its owner and group can read it", w.path))
	}
	w.content.Store(&content)
	w.notes.Store(&notes)
	return nil
}

// readConfig reads a file that says who may do what. The file itself must not be writable by group and others; that nobody
// else can put another one in its place, by its directory, is up to who keeps it.
func readConfig(path string) ([]byte, fs.FileInfo, error) {
	// A FIFO would hold up the open for ever.
	if info, err := os.Stat(path); err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, info, fmt.Errorf("%s: is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, info, fmt.Errorf("%s: is not a regular file", path)
	case othersWrite(info.Mode()):
		return nil, info, fmt.Errorf("%s: its group or other users can write it (mode %#o)", path, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(text) > maxConfig {
		err = errors.New("is too large")
	}
	if err != nil {
		return nil, info, fmt.Errorf("%s: %w", path, err)
	}
	return text, info, nil
}
