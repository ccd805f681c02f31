package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// boundBody ends requests that come too slowly: a message is small for what it does, and a file has to go on coming.
func (s *Server) boundBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := &boundedBody{ReadCloser: r.Body, control: controllerOf(r.Context()), silence: s.opts.SilenceTimeout}
		switch r.URL.Path {
		case sandboxv2connect.SandboxServiceRunInteractiveProcedure: // silent for as long as its user is
			next.ServeHTTP(w, r)
			return
		case sandboxv2connect.SandboxServicePutFileProcedure, sandboxv2connect.SandboxServicePutSnapshotProcedure:
		default:
			b.until = time.Now().Add(s.opts.MessageTimeout)
		}
		r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, b))
		r.Body = b
		defer b.end()
		next.ServeHTTP(w, r)
	})
}

// boundedBody sets the deadline of each read of a request's body. At the end of the body there is none: in HTTP/1.1 the
// server goes on reading then, to see that the client goes away. After another error it stays, since net/http reads on to the end.
type boundedBody struct {
	io.ReadCloser
	control *http.ResponseController
	until   time.Time // of the whole body; zero: each read has silence
	silence time.Duration

	mu   sync.Mutex // held in a read
	over bool
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return 0, http.ErrBodyReadAfterClose
	}
	until := b.until
	if until.IsZero() {
		until = time.Now().Add(b.silence)
	}
	_ = b.control.SetReadDeadline(until) // a transport without deadlines has none
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

type bodyKey struct{}

// cutBody ends the reading of the request's body, also one that another goroutine is in.
func cutBody(ctx context.Context) {
	if b, ok := ctx.Value(bodyKey{}).(*boundedBody); ok {
		b.end()
	}
}

// readPause is the time between two tries to end a read.
const readPause = time.Millisecond

// end is called when the handler returns. Who reads a file for a call that was given up may still be in a read, or about to
// begin one: after the handler both would be about a request that is not there any more, of which net/http makes a panic.
func (b *boundedBody) end() {
	for !b.mu.TryLock() {
		_ = b.control.SetReadDeadline(time.Now())
		time.Sleep(readPause) // the read may not have set its own deadline yet
	}
	b.over = true
	b.mu.Unlock()
}
