package remote

import (
	"errors"
	"io"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// serverEvents are those of a run without stdin.
type serverEvents struct {
	stream *connect.ServerStreamForClient[sandboxv2.RunResponse]
}

func (s serverEvents) next() (*sandboxv2.RunEvent, error) {
	if s.stream.Receive() {
		return s.stream.Msg().GetEvent(), nil
	}
	if err := s.stream.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

func (s serverEvents) close() { _ = s.stream.Close() } // what it finds, Receive has told

// bidiEvents are those of an interactive run.
type bidiEvents struct {
	stream *connect.BidiStreamForClient[sandboxv2.RunInteractiveRequest, sandboxv2.RunInteractiveResponse]
}

func (s *bidiEvents) next() (*sandboxv2.RunEvent, error) {
	m, err := s.stream.Receive()
	if err != nil {
		return nil, err
	}
	return m.GetEvent(), nil
}

func (s *bidiEvents) close() { _ = s.stream.CloseResponse() }

// stdinPiece is how much of stdin is in one message.
const stdinPiece = 32 << 10

// sendStdin sends what stdin gives, until its end or the run's.
func sendStdin(stream *connect.BidiStreamForClient[sandboxv2.RunInteractiveRequest, sandboxv2.RunInteractiveResponse], stdin engine.Stdin, over <-chan struct{}) {
	defer stream.CloseRequest() //nolint:errcheck // it fails when the run has ended, and then nobody cares
	buf := make([]byte, stdinPiece)
	for {
		n, err := stdin.Read(buf, over)
		if n > 0 {
			if stream.Send(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_Stdin{Stdin: buf[:n]}}) != nil {
				return
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF), errors.Is(err, engine.ErrInterrupted):
			return
		default:
			end := &sandboxv2.StdinEnd{Error: wire.Clean(err.Error())}
			_ = stream.Send(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_StdinEnd{StdinEnd: end}}) // as above
			return
		}
	}
}
