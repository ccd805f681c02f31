package engine

import (
	"io"
	"iter"
)

// streamReader is what Process.Stdout gives out.
type streamReader struct{ s *stream }

func (r streamReader) Read(p []byte) (int, error)         { return r.s.read(p) }
func (r streamReader) WriteTo(w io.Writer) (int64, error) { return r.s.writeTo(w) }

func (r streamReader) Close() error {
	r.s.close()
	return nil
}

// Stdout gives what the script writes, as it writes it, and io.EOF when the run has ended. From the
// first call on, stdout is streamed: the script waits when it is more than 256 KiB ahead of the reader,
// MaxOutput does not count, and Communicate does not return it. Close says that the rest is not wanted:
// it is dropped and the script does not wait. Without a reader and without Close, a script that writes
// more waits until the run is stopped.
//
// What was written before a call of Stdout is not lost, however late the call, unless Wait or
// Communicate were called, or Stderr was claimed, and more than MaxOutput was written before it.
//
// The reader has a WriteTo method, which io.Copy uses. It is for one goroutine; Close may be called
// from any.
func (p *Process) Stdout() io.ReadCloser { return p.claim(&p.stdout, &p.stderr, &p.stdoutOnce) }

// Stderr is like Stdout, for stderr.
func (p *Process) Stderr() io.ReadCloser { return p.claim(&p.stderr, &p.stdout, &p.stderrOnce) }

// StdoutLines gives the lines of stdout as the script writes them, each without its newline ("\n"; a
// "\r" before it stays). A last line without a newline is given once. Bytes that are not UTF-8 are
// replaced by U+FFFD; Stdout has them as they are. A line longer than MaxOutput comes in pieces.
//
// The stream is streamed, as by Stdout, while the loop goes on. After a break the rest is kept, and a
// new loop goes on where the last one ended.
func (p *Process) StdoutLines() iter.Seq[string] { return p.lines(&p.stdout, &p.stderr) }

// StderrLines is like StdoutLines, for stderr.
func (p *Process) StderrLines() iter.Seq[string] { return p.lines(&p.stderr, &p.stdout) }

func (p *Process) lines(s, other *stream) iter.Seq[string] {
	return func(yield func(string) bool) {
		s.claim()
		defer s.release()
		other.keep()
		for {
			line, ok := s.line(s.limit)
			if !ok || !yield(line) {
				return
			}
		}
	}
}
