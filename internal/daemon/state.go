package daemon

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// state is the directory that a server has for itself.
type state struct {
	dir  string
	lock *os.File
}

// openState makes the directory when it is not there, and takes it. Another server that has it is an error with its pid. The
// caller closes the state; it also ends with the process.
func openState(dir string) (*state, error) {
	s := &state{dir: dir}
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("state directory %s: %w", dir, err), s.close())
	}
	return s, nil
}

func (s *state) open() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(s.dir)
	if err != nil {
		return err
	}
	if err := onlyOurs(info); err != nil {
		return err
	}
	if s.lock, err = os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	if err := lockFile(s.lock); err != nil {
		return s.taken(err)
	}
	if err := s.lock.Truncate(0); err != nil {
		return err
	}
	if _, err := s.lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return err
	}
	return s.makeWork()
}

// taken says who has the lock.
func (s *state) taken(err error) error {
	if !errors.Is(err, errLocked) {
		return fmt.Errorf("lock: %w", err)
	}
	text, readErr := io.ReadAll(io.LimitReader(s.lock, 32))
	pid, pidErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if readErr != nil || pidErr != nil {
		return errors.New("another server has it")
	}
	return fmt.Errorf("another server has it, with pid %d", pid)
}

// makeWork makes the directory for temporary files. It must not be a link: what is in it is removed.
func (s *state) makeWork() error {
	if err := os.Mkdir(s.work(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(s.work())
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", s.work())
	}
	if err := onlyOurs(info); err != nil {
		return fmt.Errorf("%s: %w", s.work(), err)
	}
	return os.Chmod(s.work(), 0o700)
}

// work is the directory that work directories are made in.
func (s *state) work() string { return filepath.Join(s.dir, "work") }

// cache is for what can be made again.
func (s *state) cache() string { return filepath.Join(s.dir, "cache") }

func (s *state) close() error {
	if s.lock == nil {
		return nil
	}
	return s.lock.Close()
}

// errLocked: another process has the lock.
var errLocked = errors.New("locked")
