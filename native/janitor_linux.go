package native

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// janitor is a process that outlives this one when this one is killed, and takes away work directories and
// cgroups that nobody could remove any more. The cells themselves end without it.
type janitor struct {
	mu    sync.Mutex
	cmd   *exec.Cmd // nil before the first place
	w     *os.File
	known map[spec.Place]bool
}

// add tells the janitor of places.
func (j *janitor) add(self *os.File, places ...spec.Place) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cmd == nil {
		if err := j.start(self); err != nil {
			return fmt.Errorf("janitor: %w", err)
		}
	}
	for _, p := range places {
		if j.known[p] || strings.ContainsAny(p.Dir+p.Prefix, "\n\x00") {
			continue
		}
		j.known[p] = true
		if _, err := j.w.WriteString(p.String() + "\x00"); err != nil {
			return fmt.Errorf("janitor: %w", err)
		}
	}
	return nil
}

func (j *janitor) start(self *os.File) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: selfPath, Args: []string{"sandbar", spec.Arg, spec.Tidying}, Env: []string{}, Dir: "/",
		Stdin: r, ExtraFiles: []*os.File{nil, self},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // what ends our process group must not end it
	}
	if err := cmd.Start(); err != nil {
		w.Close()
		return err
	}
	j.cmd, j.w, j.known = cmd, w, map[spec.Place]bool{}
	return nil
}

// close lets the janitor go, with nothing to do.
func (j *janitor) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cmd == nil {
		return nil
	}
	_, _ = j.w.WriteString(spec.Farewell + "\x00")
	j.w.Close()
	err := j.cmd.Wait()
	j.cmd = nil
	return err
}

// TidyUp implements engine.Janitor.
func (d *Driver) TidyUp(dir, prefix string) error {
	if d.opts.Backend != Bubblewrap && d.opts.Backend != Userns {
		return nil
	}
	self, err := d.host.self()
	if err != nil {
		return err
	}
	places := []spec.Place{{Dir: dir, Prefix: prefix}}
	if groups, err := d.host.groups(); err == nil {
		dirs, prefix := groups.Places()
		for _, dir := range dirs {
			places = append(places, spec.Place{Dir: dir, Prefix: prefix, Group: true})
		}
	}
	return d.host.janitor.add(self, places...)
}
