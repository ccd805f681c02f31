package server

import (
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"
)

// errOversize ends the reading of a message that is larger than it may be.
var errOversize = errors.New("the rest of it is not read")

// boundSize ends a request whose message is too large where that is known. Package connect refuses it too, but reads it to its end
// before it says so, whatever length it announces.
func boundSize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, most := r.Header.Get("Content-Type"), int64(maxOf(r.URL.Path))
		r = r.WithContext(r.Context())
		if strings.HasPrefix(kind, "application/grpc") || strings.HasPrefix(kind, "application/connect+") {
			r.Body = &envelopedBody{ReadCloser: r.Body, most: most}
		} else {
			r.Body = &plainBody{ReadCloser: r.Body, left: most + 1} // connect wants one more, to see that it is too large
		}
		next.ServeHTTP(w, r)
	})
}

// plainBody is a body of one message.
type plainBody struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *plainBody) Read(p []byte) (int, error) {
	if b.left <= 0 && len(p) > 0 {
		return 0, errOversize
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// envelopedBody is a body of messages, each behind a byte of flags and four of its length.
type envelopedBody struct {
	io.ReadCloser
	most   int64
	prefix []byte // as much as there is of the one that is being read
	left   int64  // of the message
}

// prefixLen is the length of what is before each message.
const prefixLen = 5

// Read implements io.Reader.
func (b *envelopedBody) Read(p []byte) (int, error) {
	if b.left > b.most {
		return 0, errOversize
	}
	if b.left == 0 {
		p = p[:min(len(p), prefixLen-len(b.prefix))]
	}
	n, err := b.ReadCloser.Read(p)
	b.follow(p[:n])
	return n, err
}

// follow notes where in the messages the body is.
func (b *envelopedBody) follow(p []byte) {
	for len(p) > 0 {
		if b.left > 0 {
			n := min(int64(len(p)), b.left)
			b.left -= n
			p = p[n:]
			continue
		}
		n := min(len(p), prefixLen-len(b.prefix))
		b.prefix = append(b.prefix, p[:n]...)
		p = p[n:]
		if len(b.prefix) == prefixLen {
			b.left = int64(binary.BigEndian.Uint32(b.prefix[1:]))
			b.prefix = b.prefix[:0]
		}
	}
}
