package server

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// answerEarly lets an answer go out before the request has come to its end, and closes the connection then. Over HTTP/1.1 net/http
// reads what is left of a body before it writes, without a deadline: who is refused could hold its connection for ever by
// sending nothing. A connection that goes on could have the rest of a body taken for the next request. HTTP/2 has neither.
func (s *Server) answerEarly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 || r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		// For what net/http reads after the answer, up to its end or 256 KiB.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.opts.MessageTimeout)) // a writer of another kind reads nothing
		body := &earlyBody{ReadCloser: r.Body}
		r = r.WithContext(r.Context()) // net/http looks at its own body
		r.Body = body
		next.ServeHTTP(&earlyWriter{ResponseWriter: w, body: body}, r)
	})
}

// earlyBody knows whether it was read to its end.
type earlyBody struct {
	io.ReadCloser
	ended atomic.Bool
}

// Read implements io.Reader.
func (b *earlyBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.ended.Store(true)
	}
	return n, err
}

// Close does nothing: it would read what is left before the answer is sent. Net/http closes its body itself.
func (b *earlyBody) Close() error { return nil }

// earlyWriter says that the connection is closed, in answers to what was not read to its end. What it has besides is found by
// http.ResponseController.
type earlyWriter struct {
	http.ResponseWriter
	body  *earlyBody
	wrote bool
}

// WriteHeader implements http.ResponseWriter.
func (w *earlyWriter) WriteHeader(code int) {
	if !w.wrote && !w.body.ended.Load() {
		w.Header().Set("Connection", "close")
	}
	w.wrote = w.wrote || code >= http.StatusOK
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *earlyWriter) Write(p []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(p)
}

// Flush implements http.Flusher, which Connect's streams need.
func (w *earlyWriter) Flush() {
	w.begin()
	_ = http.NewResponseController(w.ResponseWriter).Flush() // a next Write has the error
}

func (w *earlyWriter) begin() {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
}

// Unwrap is for http.ResponseController.
func (w *earlyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
