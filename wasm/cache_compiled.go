package wasm

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// compiledSum is the name under which a description of wazero's files is kept.
const compiledSum = "compiled.sum"

// compiledGood reports whether wazero's files are ours and as they were when keepCompiled saw them. wazero
// itself looks neither at who owns a file nor at what it is, and has a checksum of the machine code only:
// a bit that flipped in the offsets of functions would be a jump to anywhere.
func (c cache) compiledGood() bool {
	want, err := c.read(compiledSum)
	if err != nil {
		return false
	}
	got, err := c.describeCompiled()
	return err == nil && bytes.Equal(got, want)
}

// keepCompiled notes wazero's files as they are now.
func (c cache) keepCompiled() error {
	description, err := c.describeCompiled()
	if err != nil {
		return err
	}
	return c.write(compiledSum, description)
}

// describeCompiled has a line for each of wazero's files.
func (c cache) describeCompiled() ([]byte, error) {
	var b []byte
	err := filepath.WalkDir(c.compiled(), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".tmp") {
			return nil // another process is writing it
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if err := ours(path, info); err != nil || e.IsDir() {
			return err
		}
		sum, err := fileSum(path)
		b = fmt.Appendf(b, "%s %d %08x\n", strings.TrimPrefix(path, c.dir), info.Size(), sum)
		return err
	})
	return b, err
}

// Of each file only these parts are summed, in bytes: what stands before and behind the machine code, with
// room to spare. The machine code, some 28 MB, is summed by wazero.
const (
	summedHead = 1 << 20
	summedTail = 64 << 10
)

// fileSum is the checksum of the beginning and the end of a regular file.
func fileSum(path string) (uint32, error) {
	f, err := openNoFollow(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s: not a regular file: %w", path, os.ErrInvalid)
	}
	head := make([]byte, min(summedHead, info.Size()))
	tail := make([]byte, min(summedTail, info.Size()))
	if _, err := f.ReadAt(head, 0); err != nil {
		return 0, err
	}
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return 0, err
	}
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, tail), nil
}
