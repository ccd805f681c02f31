package server

import (
	"context"
	"net/http"
	"time"
)

// A response is that of a request, as its handler may change it: by its deadlines, and by what is sent at once.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	held    bool
}

// Unwrap is for http.ResponseController.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush implements http.Flusher.
func (r *response) Flush() {
	if r.held {
		return
	}
	if f, ok := r.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

type responseKey struct{}

// withResponse lets handlers find their response.
func withResponse(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &response{ResponseWriter: w, control: http.NewResponseController(w)}
		next.ServeHTTP(out, r.WithContext(context.WithValue(r.Context(), responseKey{}, out)))
	})
}

// responseOf is nil in a request that did not come by HTTP.
func responseOf(ctx context.Context) *response {
	r, _ := ctx.Value(responseKey{}).(*response)
	return r
}

// controllerOf is nil in a request that did not come by HTTP.
func controllerOf(ctx context.Context) *http.ResponseController {
	if r := responseOf(ctx); r != nil {
		return r.control
	}
	return nil
}

// lastMessage says that the handler sends one more message and returns: it goes together with the end of the response, in one packet.
func lastMessage(ctx context.Context) {
	if r := responseOf(ctx); r != nil {
		r.held = true
	}
}

// setReadDeadline bounds the reading of the caller's request. The zero time is no bound.
func setReadDeadline(ctx context.Context, t time.Time) {
	if c := controllerOf(ctx); c != nil {
		_ = c.SetReadDeadline(t) // a transport without deadlines has none
	}
}
