package imports

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// Tree is Files on a directory, but for Scan. It opens regular files and directories only, so that it never waits for
// a FIFO, and never goes out of the root.
type Tree struct{ Root *os.Root }

// Stat implements Files.
func (t Tree) Stat(name string) (Entry, error) {
	info, err := t.Root.Stat(name)
	if err != nil {
		return Entry{}, broken(err)
	}
	return entryOf(info), nil
}

func entryOf(info fs.FileInfo) Entry {
	switch {
	case info.IsDir():
		return Entry{Type: Directory}
	case info.Mode().IsRegular():
		return Entry{Type: RegularFile, Size: info.Size()}
	}
	return Entry{Type: OtherEntry}
}

// List implements Files.
func (t Tree) List(name string) (Listing, error) {
	f, err := t.open(name, Directory)
	if f == nil || err != nil {
		return Listing{}, err
	}
	defer f.Close()
	names, err := f.Readdirnames(MaxNames + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return Listing{}, broken(err)
	}
	if len(names) > MaxNames {
		return Listing{Names: names[:MaxNames], Exists: true, Partial: true}, nil
	}
	return Listing{Names: names, Exists: true}, nil
}

// Read implements Files.
func (t Tree) Read(name string, most int64) ([]byte, error) {
	f, err := t.open(name, RegularFile)
	if f == nil || err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil || int64(len(b)) > most {
		return nil, broken(err)
	}
	return b, nil
}

// open opens a name that is of the type before and after; nil when it is not.
func (t Tree) open(name string, want EntryType) (*os.File, error) {
	if e, err := t.Stat(name); err != nil || e.Type != want {
		return nil, err
	}
	f, err := t.Root.OpenFile(name, os.O_RDONLY|calmFlags, 0)
	if err != nil {
		return nil, broken(err)
	}
	info, err := f.Stat() // it may be another file than the one that was looked at
	if err != nil || entryOf(info).Type != want {
		f.Close()
		return nil, broken(err)
	}
	return f, nil
}

// broken keeps the errors that say something about the root, and not about what is in it.
func broken(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
