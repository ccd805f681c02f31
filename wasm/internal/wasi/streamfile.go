package wasi

import (
	"errors"
	"io"
	"io/fs"

	"github.com/tetratelabs/wazero/experimental/sys"
	wasys "github.com/tetratelabs/wazero/sys"
)

// StdinFile is standard input as a File, for an FS that has a /dev/stdin. A read waits as one of descriptor
// 0 does and can be interrupted as it can; poll_oneoff takes the file for ready. Closing it does nothing.
func StdinFile(in Stdin, s Signals) sys.File { return &stdinFile{in: in, signals: s} }

// OutputFile is standard output or standard error as a File, for an FS that has a /dev/stdout. Closing
// it does nothing.
func OutputFile(w io.Writer) sys.File { return &outputFile{w: w} }

// pipe is what both have: they are like pipes. Host functions ask a pipe for
// nothing that has to do with offsets, size or times.
type pipe struct{ sys.UnimplementedFile }

func (pipe) Stat() (wasys.Stat_t, sys.Errno) {
	return wasys.Stat_t{Mode: fs.ModeNamedPipe | 0o600, Nlink: 1}, 0
}
func (pipe) Read([]byte) (int, sys.Errno)  { return 0, sys.EBADF }
func (pipe) Write([]byte) (int, sys.Errno) { return 0, sys.EBADF }
func (pipe) SetAppend(bool) sys.Errno      { return 0 }

type stdinFile struct {
	pipe
	in      Stdin
	signals Signals
}

// Read answers EINTR when it was interrupted; the host function that called it delivers.
func (f *stdinFile) Read(p []byte) (int, sys.Errno) {
	if len(p) == 0 {
		return 0, 0
	}
	n, err := f.in.Read(p, f.signals.Wait())
	if n > 0 || errors.Is(err, io.EOF) {
		return n, 0
	}
	return 0, sys.EINTR
}

type outputFile struct {
	pipe
	w io.Writer
}

func (f *outputFile) Write(p []byte) (int, sys.Errno) {
	n, err := f.w.Write(p)
	if err != nil {
		return n, sys.EIO
	}
	return n, 0
}
