package wasm

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// sweepAge is how long a folder of another version stays after its last use: openCache changes the
// folder's time at each use.
const sweepAge = 30 * 24 * time.Hour

// sweep removes what other versions of the interpreter left in the cache and have not used for sweepAge. It
// is called when this version fills its own folder, which is seldom.
func (c cache) sweep(now time.Time) error {
	if c.dir == "" {
		return nil
	}
	top := filepath.Dir(c.dir)
	entries, err := os.ReadDir(top)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		name := e.Name()
		if key, err := hex.DecodeString(name); err != nil || len(key) != 8 || name == filepath.Base(c.dir) {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.IsDir() || now.Sub(info.ModTime()) < sweepAge {
			continue
		}
		errs = append(errs, os.RemoveAll(filepath.Join(top, name)))
	}
	return errors.Join(errs...)
}
