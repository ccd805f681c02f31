//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package native

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sandbar-dev/sandbar/engine"
)

// makeRunDirs makes the directories of a run, and the script's file. Nobody but this program's user can enter them.
func makeRunDirs(rs *engine.RunSpec) (*runDirs, error) {
	root, err := os.MkdirTemp("", "sandbar-run-") // 0700
	if err != nil {
		return nil, err
	}
	d := &runDirs{root: root}
	if d.root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, errors.Join(err, os.Remove(root))
	}
	d.script, d.tmp = filepath.Join(d.root, "script"), filepath.Join(d.root, "tmp")
	if err := d.fill(rs); err != nil {
		return nil, errors.Join(err, d.remove())
	}
	return d, nil
}

func (d *runDirs) fill(rs *engine.RunSpec) error {
	for _, dir := range []string{d.script, d.tmp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(d.scriptFile(rs), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(rs.Script)
	return errors.Join(err, f.Close())
}

func (d *runDirs) scriptFile(rs *engine.RunSpec) string { return filepath.Join(d.script, rs.Name) }

// remove takes the directories away. A script may have taken its own rights to some; they are given back first.
func (d *runDirs) remove() error {
	err := os.RemoveAll(d.root)
	if err == nil {
		return nil
	}
	if err := openDirs(d.root); err != nil {
		return fmt.Errorf("remove the directory of a run: %w", err)
	}
	if err := os.RemoveAll(d.root); err != nil {
		return fmt.Errorf("remove the directory of a run: %w", err)
	}
	return nil
}

// openDirs makes all directories below dir accessible to their owner. It goes by descriptors: a link leads nowhere
// else.
func openDirs(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return chmodBelow(root, ".")
}

func chmodBelow(root *os.Root, dir string) error {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		sub := filepath.Join(dir, e.Name())
		if err := root.Chmod(sub, 0o700); err != nil {
			return err
		}
		if err := chmodBelow(root, sub); err != nil {
			return err
		}
	}
	return nil
}
