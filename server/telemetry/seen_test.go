package telemetry

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seen is what came to a collector.
type seen struct {
	url string

	mu      sync.Mutex
	paths   []string
	headers []http.Header
	bodies  []string
}

func newSeen(t *testing.T) *seen {
	s := &seen{}
	h := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(z)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.paths, s.headers, s.bodies = append(s.paths, r.URL.Path), append(s.headers, r.Header), append(s.bodies, string(body))
	}))
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}
