package observe

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collectmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collecttraces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A collector receives OTLP over HTTP.
type collector struct {
	t   *testing.T
	url string

	mu      sync.Mutex
	spans   []*tracepb.Span
	metrics []*metricspb.Metric
	raw     []byte // all bodies, as they were unpacked
}

func newCollector(t *testing.T) *collector {
	c := &collector{t: t}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, r *http.Request) {
		var m collecttraces.ExportTraceServiceRequest
		c.receive(w, r, &m, func() {
			for _, rs := range m.GetResourceSpans() {
				for _, ss := range rs.GetScopeSpans() {
					c.spans = append(c.spans, ss.GetSpans()...)
				}
			}
		})
	})
	mux.HandleFunc("POST /v1/metrics", func(w http.ResponseWriter, r *http.Request) {
		var m collectmetrics.ExportMetricsServiceRequest
		c.receive(w, r, &m, func() {
			for _, rm := range m.GetResourceMetrics() {
				for _, sm := range rm.GetScopeMetrics() {
					c.metrics = append(c.metrics, sm.GetMetrics()...)
				}
			}
		})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	c.url = s.URL
	return c
}

func (c *collector) receive(w http.ResponseWriter, r *http.Request, m proto.Message, keep func()) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if body, err = gzip.NewReader(r.Body); err != nil {
			c.t.Error(err)
			return
		}
	}
	data, err := io.ReadAll(body)
	if err == nil {
		err = proto.Unmarshal(data, m)
	}
	if err != nil {
		c.t.Error(err)
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, data...)
	keep()
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// span finds the only span of a name with an attribute.
func (c *collector) span(name, key, value string) *tracepb.Span {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var found *tracepb.Span
	for _, s := range c.spans {
		if s.GetName() == name && attributes(s)[key] == value {
			if found != nil {
				c.t.Errorf("there are two spans %s with %s=%s", name, key, value)
			}
			found = s
		}
	}
	if found == nil {
		c.t.Fatalf("there is no span %s with %s=%s", name, key, value)
	}
	return found
}

func attributes(s *tracepb.Span) map[string]string {
	out := map[string]string{}
	for _, a := range s.GetAttributes() {
		out[a.GetKey()] = a.GetValue().GetStringValue()
	}
	return out
}

func id(b []byte) string { return hex.EncodeToString(b) }
