package wasm

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/sandbar-dev/sandbar/wasm/internal/meter"
	"github.com/sandbar-dev/sandbar/wasm/python"
)

// cacheFormat changes when an older version's files cannot be used.
const cacheFormat = "1"

// cache is a folder that only this user can write to. What is in it is trusted for that reason, after a
// look at who owns it; the checksum in each file is there for damage, and against nobody. The zero value
// keeps nothing.
type cache struct{ dir string }

// cacheKey names what a cached file depends on.
func cacheKey() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%d\n%s\n%s\n%s",
		cacheFormat, python.ID(), meter.Revision, tickBudget, wazeroVersion(), runtime.GOARCH, warmUp))
	return hex.EncodeToString(h[:8])
}

// openCache makes the folder where it is missing, and refuses one that others can write to or own.
func openCache(opts *Options) (cache, error) {
	if opts.NoCache {
		return cache{}, nil
	}
	top := opts.CacheDir
	if top == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return cache{}, err
		}
		top = filepath.Join(user, "sandbar")
	}
	dir := filepath.Join(top, cacheKey())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cache{}, err
	}
	for _, d := range []string{top, dir} {
		info, err := os.Lstat(d)
		if err != nil {
			return cache{}, err
		}
		if !info.IsDir() {
			return cache{}, fmt.Errorf("%s: not a directory", d)
		}
		if err := ours(d, info); err != nil {
			return cache{}, err
		}
	}
	probe, err := os.CreateTemp(dir, "probe-*")
	if err != nil {
		return cache{}, err
	}
	return cache{dir: dir}, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// compiled is the folder for wazero's own cache, or "".
func (c cache) compiled() string {
	if c.dir == "" {
		return ""
	}
	return filepath.Join(c.dir, "compiled")
}

// read returns what write stored under name; an error when it is not there, is not ours, is damaged or
// was stored by another version.
func (c cache) read(name string) ([]byte, error) {
	if c.dir == "" {
		return nil, os.ErrNotExist
	}
	path := filepath.Join(c.dir, name)
	f, err := openNoFollow(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	if err := ours(path, info); err != nil {
		return nil, err
	}
	// One read into a slice of the right size; a file that grows meanwhile fails the check below.
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(data) < sumSize {
		return nil, fmt.Errorf("%s: too short", path)
	}
	sum, content := data[:sumSize], data[sumSize:]
	if !bytes.Equal(sum, c.checksum(name, content)) {
		return nil, fmt.Errorf("%s: damaged", path)
	}
	return content, nil
}

// write stores content under name: who reads meanwhile finds the old file or the new one. What a power
// failure leaves half written is found out by its checksum.
func (c cache) write(name string, content []byte) error {
	if c.dir == "" {
		return nil
	}
	f, err := os.CreateTemp(c.dir, name+"-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(c.checksum(name, content))
	if err == nil {
		_, err = f.Write(content)
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(c.dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// sumSize is the length of a checksum in bytes: a length and a CRC-32C, which processors have an
// instruction for.
const sumSize = 12

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is over the content and over what it is: that a file lies where another was stored, or in the
// folder of another version, is damage too.
func (c cache) checksum(name string, content []byte) []byte {
	sum := crc32.Checksum([]byte(filepath.Base(c.dir)+"/"+name), castagnoli)
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(content)))
	return binary.LittleEndian.AppendUint32(b, crc32.Update(sum, castagnoli, content))
}
