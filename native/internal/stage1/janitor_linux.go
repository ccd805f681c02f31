package stage1

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbar-dev/sandbar/native/internal/spec"
)

// janitor takes away what the host leaves on the file system when it is killed. It is told beforehand, on its
// standard input, where that would be; the end of the input without a farewell is the end of the host.
func janitor() {
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT)
	var places []spec.Place
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString(0)
		if errors.Is(err, io.EOF) {
			break
		}
		line = strings.TrimSuffix(line, "\x00")
		if err != nil || line == spec.Farewell {
			unix.Exit(0)
		}
		if p, ok := spec.ParsePlace(line); ok {
			places = append(places, p)
		}
	}
	tidy(places)
	unix.Exit(0)
}

// How long, and how often, the janitor tries: the cells end at the same time as the host, and a moment after.
const (
	tidyTime = 5 * time.Second
	tidyStep = 10 * time.Millisecond
)

func tidy(places []spec.Place) {
	for began := time.Now(); time.Since(began) < tidyTime; time.Sleep(tidyStep) {
		left := 0
		for _, p := range places {
			left += tidyPlace(p)
		}
		if left == 0 {
			return
		}
	}
}

// tidyPlace returns how many entries it could not remove.
func tidyPlace(p spec.Place) (left int) {
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), p.Prefix) || !e.IsDir() {
			continue
		}
		path := filepath.Join(p.Dir, e.Name())
		if p.Group {
			err = unix.Rmdir(path)
		} else {
			err = removeTree(p.Dir, e.Name())
		}
		if err != nil {
			left++
		}
	}
	return left
}

// removeTree removes a directory that a script could write to, by descriptors and without following links.
func removeTree(dir, name string) error {
	d, err := openDirectory(dir)
	if err != nil {
		return err
	}
	defer d.f.Close()
	if err := d.removeAll(name, 0); err == nil {
		return nil
	}
	return os.RemoveAll(filepath.Join(dir, name)) // it goes deeper than we do
}
