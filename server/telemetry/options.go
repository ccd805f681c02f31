package telemetry

import (
	"log/slog"
	"maps"
	"math"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/sandbar-dev/sandbar/engine"
)

// Options are for Start.
type Options struct {
	// Endpoint is the collector's base URL, as "http://127.0.0.1:4318": traces go to /v1/traces below it, metrics to
	// /v1/metrics. It has no user, query or fragment. It must be set.
	Endpoint string
	// Headers are sent with each export, such as credentials. They are not logged.
	Headers map[string]string
	// ServiceName and Version describe the server. Empty: "sandbox-server", and no version.
	ServiceName, Version string
	// SampleRatio is the share of traces that are recorded, of those whose caller has not decided: its decision counts. Zero: 1,
	// all; negative: none.
	SampleRatio float64
	// MetricInterval is the time between two exports of metrics. Zero: 1 minute.
	MetricInterval time.Duration
	// BatchDelay is how long a span waits for others. Zero: 5 s.
	BatchDelay time.Duration
	// Timeout bounds each export. Zero: 10 s.
	Timeout time.Duration
	// Logger is told when exports begin to fail, and when they work again. Nil: none.
	Logger *slog.Logger
}

// The defaults that Options names.
const (
	defaultService  = "sandbox-server"
	defaultInterval = time.Minute
	defaultDelay    = 5 * time.Second
	defaultTimeout  = 10 * time.Second
)

func (o *Options) filled() (Options, error) {
	var f Options
	if o != nil {
		f = *o
	}
	if err := checkEndpoint(f.Endpoint); err != nil {
		return f, err
	}
	for _, d := range []struct {
		name  string
		value *time.Duration
		def   time.Duration
	}{
		{"MetricInterval", &f.MetricInterval, defaultInterval},
		{"BatchDelay", &f.BatchDelay, defaultDelay},
		{"Timeout", &f.Timeout, defaultTimeout},
	} {
		if *d.value < 0 {
			return f, &engine.InvalidError{Field: d.name, Problem: "is negative"}
		}
		if *d.value == 0 {
			*d.value = d.def
		}
	}
	switch {
	case math.IsNaN(f.SampleRatio) || f.SampleRatio > 1:
		return f, &engine.InvalidError{Field: "SampleRatio", Problem: "is not a number up to 1"}
	case f.SampleRatio == 0:
		f.SampleRatio = 1
	}
	if f.ServiceName == "" {
		f.ServiceName = defaultService
	}
	if f.Logger == nil {
		f.Logger = slog.New(slog.DiscardHandler)
	}
	// Never nil: the exporters would take those of environment variables then.
	headers := map[string]string{}
	maps.Copy(headers, f.Headers)
	f.Headers = headers
	return f, nil
}

// resource describes the server.
func (o *Options) resource() *resource.Resource {
	return resource.NewSchemaless(attribute.String("service.name", o.ServiceName), attribute.String("service.version", o.Version))
}

func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return &engine.InvalidError{Field: "Endpoint", Problem: "is not a URL of the form http://host:port or https://host:port"}
	case u.User != nil:
		return &engine.InvalidError{Field: "Endpoint", Problem: "has a user: credentials are for Headers"}
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(endpoint, "#"):
		return &engine.InvalidError{Field: "Endpoint", Problem: "has a query or a fragment"}
	}
	return nil
}
