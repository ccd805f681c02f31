package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxScript is the most that is read as a script, in bytes: so that /dev/zero ends with an error.
const maxScript = 64 << 20

// A source is where a script comes from.
type source struct {
	code []byte
	// name is the file name that tracebacks show; empty for a script that has none.
	name string
	args []string
	// tookStdin is set when standard input was the script: then none is left for it to read.
	tookStdin bool
}

// readSource finds the script of `sandbar run`: -c code, "-", or a file. The bytes are not looked at:
// which encoding they have is for Python to find out (PEP 263).
func readSource(code *string, args []string, stdin io.Reader) (*source, error) {
	switch {
	case code != nil:
		return &source{code: []byte(*code), args: args}, nil
	case len(args) == 0:
		return nil, usageErrorf("run: no script given: want a file, - or -c CODE")
	case args[0] == "-":
		text, err := readScript(stdin, "standard input")
		return &source{code: text, args: args[1:], tookStdin: true}, err
	}
	text, err := readScriptFile(args[0])
	return &source{code: text, name: filepath.Base(args[0]), args: args[1:]}, err
}

func readScriptFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usageErrorf("open %s: %w", path, cause(err))
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, usageErrorf("open %s: %w", path, syscall.EISDIR)
	}
	return readScript(f, path)
}

func readScript(r io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxScript+1))
	if err != nil {
		return nil, &exitError{code: exitFailed, err: fmt.Errorf("read %s: %w", name, cause(err))}
	}
	if len(text) > maxScript {
		return nil, usageErrorf("read %s: a script of more than %s", name, formatSize(maxScript))
	}
	return text, nil
}

// cause takes the operation and the path off, which our own message names.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
