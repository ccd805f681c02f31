package engine

import (
	"io"
	"sync"
)

// pipeBuffer is how much Process.Stdin takes before the script reads: as much as a kernel pipe.
const pipeBuffer = 64 << 10

// A pipe is Process.Stdin: the caller writes, the driver reads.
type pipe struct {
	writing sync.Mutex // held over a whole Write, so that two do not mix

	mu     sync.Mutex
	buf    []byte // buf[r:] is not read yet
	r      int
	input  []byte // of Communicate: not copied and not bounded
	closed bool   // the caller has closed it: the end comes after the buffer
	broken bool   // the run has ended
	// data and room wake the one reader and the one writer. Each holds one token, which says "look again".
	data, room chan struct{}
}

func newPipe() *pipe {
	return &pipe{data: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Write blocks until the script has read enough. It returns io.ErrClosedPipe when the run has ended or
// the pipe was closed.
func (p *pipe) Write(b []byte) (int, error) {
	p.writing.Lock()
	defer p.writing.Unlock()
	n := 0
	for {
		k, err := p.add(b[n:])
		n += k
		if n == len(b) || err != nil {
			return n, err
		}
		<-p.room
	}
}

func (p *pipe) add(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.broken {
		return 0, io.ErrClosedPipe
	}
	n := min(len(b), pipeBuffer-len(p.buf)+p.r)
	if n > 0 {
		if len(p.buf)+n > pipeBuffer {
			p.buf, p.r = p.buf[:copy(p.buf, p.buf[p.r:])], 0
		}
		p.buf = append(p.buf, b[:n]...)
		wake(p.data)
	}
	return n, nil
}

// Close is the end of stdin for the script. Bytes already written arrive before it.
func (p *pipe) Close() error {
	p.finish(nil)
	return nil
}

// finish closes the pipe with last bytes, which must not change before the run has ended.
func (p *pipe) finish(input []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.broken {
		return
	}
	p.closed, p.input = true, input
	wake(p.data)
	wake(p.room)
}

// end says that the run has ended and reads no more.
func (p *pipe) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken, p.buf, p.r, p.input = true, nil, 0, nil
	wake(p.data)
	wake(p.room)
}

// Read implements Stdin.
func (p *pipe) Read(b []byte, cancel <-chan struct{}) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if err := p.Wait(cancel); err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.r < len(p.buf) {
		n := copy(b, p.buf[p.r:])
		p.r += n
		if p.r >= len(p.buf)/2 { // not at each byte: each is a switch of goroutines
			wake(p.room)
		}
		return n, nil
	}
	n := copy(b, p.input)
	p.input = p.input[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Wait implements Stdin.
func (p *pipe) Wait(cancel <-chan struct{}) error {
	for !p.ready() {
		select {
		case <-p.data:
		case <-cancel:
			return ErrInterrupted
		}
	}
	return nil
}

func (p *pipe) ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.r < len(p.buf) || p.closed || p.broken
}

// noPipe is Process.Stdin of a run without StdinPipe.
type noPipe struct{}

func (noPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
func (noPipe) Close() error              { return nil }
