package engine

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// quota implements Quota. A nil one has no limit.
type quota struct {
	maxBytes, maxFiles int64 // 0 means no limit

	// changing is held while a directory entry is looked at, replaced or removed, and counted: of two calls
	// for one name each would otherwise give back what the other's file had counted.
	changing sync.Mutex

	mu           sync.Mutex
	bytes, files int64
}

// newQuota returns nil when neither is limited.
func newQuota(limits *Limits) *quota {
	if limits.Disk == 0 && limits.DiskFiles == 0 {
		return nil
	}
	return &quota{maxBytes: limits.Disk, maxFiles: limits.DiskFiles}
}

// Charge implements Quota.
func (q *quota) Charge(bytes, files int64) bool {
	if q == nil {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if bytes > 0 && q.maxBytes > 0 && bytes > q.maxBytes-q.bytes {
		return false
	}
	if files > 0 && q.maxFiles > 0 && files > q.maxFiles-q.files {
		return false
	}
	q.add(bytes, files)
	return true
}

// add changes what is counted. What there is never gets less than nothing: an estimate that was too low
// must not become room for more.
func (q *quota) add(bytes, files int64) {
	q.bytes = max(0, q.bytes+bytes)
	q.files = max(0, q.files+files)
}

// takeBack undoes a charge, whichever way it went.
func (q *quota) takeBack(bytes, files int64) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(-bytes, -files)
}

// spend is Charge with an error.
func (q *quota) spend(bytes, files int64) error {
	if !q.Charge(bytes, files) {
		return ErrNoSpace
	}
	return nil
}

// weight is what a directory entry counts: its size, and one file. An entry with more hard links counts
// nothing here, so that taking one name away gives nothing back while the file is still there.
func weight(info fs.FileInfo) (bytes, files int64) {
	if n, _ := links(info); n > 1 {
		return 0, 0
	}
	return sizeOf(info), 1
}

// sizeOf is the size that counts: directories and special files have none.
func sizeOf(info fs.FileInfo) int64 {
	if info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

// gone gives back what an entry that was removed had counted.
func (q *quota) gone(info fs.FileInfo) {
	bytes, files := weight(info)
	q.takeBack(bytes, files)
}

// change begins a change of a directory entry and returns what ends it.
func (q *quota) change() (end func()) {
	if q == nil {
		return func() {}
	}
	q.changing.Lock()
	return q.changing.Unlock
}

// remove removes a directory entry and gives back what it had counted.
func (q *quota) remove(dir *os.Root, name string) error {
	defer q.change()()
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if err := dir.Remove(name); err != nil {
		return err
	}
	q.gone(info)
	return nil
}

// maxNesting bounds the descriptors that counting a work directory takes.
const maxNesting = 500

// count adds what exists below dir, each hard-linked file once.
func (q *quota) count(ctx context.Context, dir *os.Root, depth int, seen map[inode]bool) error {
	if depth > maxNesting {
		return fmt.Errorf("directories are nested deeper than %d, which cannot be counted for the disk limit", maxNesting)
	}
	return eachEntry(ctx, dir, func(info fs.FileInfo) error {
		if info.IsDir() {
			q.files++
			sub, err := openDir(dir, info.Name())
			if err != nil {
				return err
			}
			defer sub.Close()
			return q.count(ctx, sub, depth+1, seen)
		}
		if n, id := links(info); n > 1 {
			if seen[id] {
				return nil
			}
			seen[id] = true
		}
		q.files++
		q.bytes += sizeOf(info)
		return nil
	})
}
