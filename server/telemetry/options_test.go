package telemetry

import (
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

func TestStart_InvalidOptions(t *testing.T) {
	const good = "http://127.0.0.1:4318"
	for name, opts := range map[string]*Options{
		"nil":           nil,
		"no endpoint":   {},
		"no scheme":     {Endpoint: "127.0.0.1:4318"},
		"other scheme":  {Endpoint: "grpc://127.0.0.1:4317"},
		"a user":        {Endpoint: "http://me:secret@127.0.0.1:4318"},
		"a query":       {Endpoint: good + "?x=1"},
		"a fragment":    {Endpoint: good + "#x"},
		"ratio":         {Endpoint: good, SampleRatio: 1.5},
		"ratio no one":  {Endpoint: good, SampleRatio: math.NaN()},
		"interval":      {Endpoint: good, MetricInterval: -time.Second},
		"batch delay":   {Endpoint: good, BatchDelay: -time.Second},
		"time of sends": {Endpoint: good, Timeout: -time.Second},
	} {
		_, err := Start(t.Context(), opts)
		if !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("%s: Start() = %v, want ErrInvalid", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error has the password: %v", name, err)
		}
	}
}

// What the environment says is no option.
func TestStart_NoEnvironment(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-secret=1")
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "from=environment")
	seen := newSeen(t)
	tel, err := Start(t.Context(), &Options{Endpoint: seen.url, Headers: map[string]string{"X-Ours": "2"}})
	if err != nil {
		t.Fatal(err)
	}
	_, span := tel.tracer.Start(t.Context(), "one")
	span.End()
	if err := tel.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(seen.bodies) == 0 {
		t.Fatal("nothing was sent")
	}
	for _, h := range seen.headers {
		if h.Get("X-Secret") != "" || h.Get("X-Ours") != "2" {
			t.Errorf("headers of an export = %v, want ours alone", h)
		}
	}
	for _, b := range seen.bodies {
		if strings.Contains(b, "environment") {
			t.Errorf("an export has what the environment says: %q", b)
		}
	}
}

func TestShutdown_Again(t *testing.T) {
	seen := newSeen(t)
	tel, err := Start(t.Context(), &Options{Endpoint: seen.url + "/"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := tel.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown() = %v, want nil", err)
		}
	}
	for _, p := range seen.paths {
		if p != "/v1/traces" && p != "/v1/metrics" {
			t.Errorf("an export went to %s", p)
		}
	}
}

func TestNews_Once(t *testing.T) {
	var log strings.Builder
	n := news{logger: slog.New(slog.NewTextHandler(&log, nil)), what: "traces"}
	for _, err := range []error{nil, errors.New("gone"), errors.New("gone"), nil, nil} {
		n.tell(t.Context(), err)
	}
	if got := strings.Count(log.String(), "\n"); got != 2 {
		t.Errorf("%d lines, want 2:\n%s", got, log.String())
	}
}
