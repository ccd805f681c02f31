package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/otelconnect"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
	"github.com/sandbar-dev/sandbar/server"
)

// Telemetry exports spans and metrics, and is a server.Tracer. It is safe for concurrent use. Shutdown ends it.
type Telemetry struct {
	spans       *sdktrace.TracerProvider
	meters      *sdkmetric.MeterProvider
	tracer      trace.Tracer
	interceptor *otelconnect.Interceptor
	client      *http.Client
}

var _ server.Tracer = (*Telemetry)(nil)

// Start begins to export. It does not wait for the collector: one that is not there costs spans, not calls. ctx bounds the start
// alone. Errors are *engine.InvalidError for options, or those of the exporters.
func Start(ctx context.Context, opts *Options) (*Telemetry, error) {
	o, err := opts.filled()
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	t := &Telemetry{client: newClient(&o)}
	if err := t.start(ctx, &o); err != nil {
		return nil, fmt.Errorf("telemetry: %w", errors.Join(err, t.Shutdown(ctx)))
	}
	return t, nil
}

func (t *Telemetry) start(ctx context.Context, o *Options) error {
	spans, err := newSpanExporter(ctx, o, t.client)
	if err != nil {
		return err
	}
	t.spans = sdktrace.NewTracerProvider(
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(max(o.SampleRatio, 0)))),
		sdktrace.WithRawSpanLimits(spanLimits),
		sdktrace.WithBatcher(spans, sdktrace.WithBatchTimeout(o.BatchDelay), sdktrace.WithExportTimeout(o.Timeout),
			sdktrace.WithMaxQueueSize(maxQueue), sdktrace.WithMaxExportBatchSize(maxBatch)),
	)
	t.tracer = t.spans.Tracer(scope)
	metrics, err := newMetricExporter(ctx, o, t.client)
	if err != nil {
		return err
	}
	t.meters = sdkmetric.NewMeterProvider(
		sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics, sdkmetric.WithInterval(o.MetricInterval), sdkmetric.WithTimeout(o.Timeout))),
	)
	t.interceptor, err = otelconnect.NewInterceptor(
		otelconnect.WithTracerProvider(t.spans),
		otelconnect.WithMeterProvider(t.meters),
		otelconnect.WithPropagator(propagation.TraceContext{}),
		otelconnect.WithTrustRemote(),
		otelconnect.WithFilter(func(_ context.Context, spec connect.Spec) bool { return !isProbe(spec.Procedure) }),
	)
	return err
}

const (
	scope = "github.com/sandbar-dev/sandbar/server"
	// What waits to be sent, in spans. More are dropped.
	maxQueue = 4096
	maxBatch = 512
)

// spanLimits are set, so that environment variables set none.
var spanLimits = sdktrace.SpanLimits{
	AttributeValueLengthLimit: 256, AttributeCountLimit: 32, EventCountLimit: 8, LinkCountLimit: 8,
	AttributePerEventCountLimit: 8, AttributePerLinkCountLimit: 8,
}

// isProbe reports whether a call is one that anybody may make, without credentials: they come often, and who makes them could
// crowd out all other spans.
func isProbe(procedure string) bool {
	return procedure == sandboxv2connect.SandboxServiceHealthProcedure || strings.HasPrefix(procedure, "/grpc.health.")
}

// Interceptor makes the spans and the metrics of calls. It is for server.HandlerOptions.Connect, and the Telemetry for
// server.Options.Tracer.
func (t *Telemetry) Interceptor() connect.Interceptor { return t.interceptor }

// Shutdown sends what has not been sent, and ends the exports. An error is that of ctx or of the exporters. It may be called
// again.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	var errs []error
	if t.spans != nil {
		errs = append(errs, t.spans.Shutdown(ctx))
	}
	if t.meters != nil {
		if err := t.meters.Shutdown(ctx); !errors.Is(err, sdkmetric.ErrReaderShutdown) {
			errs = append(errs, err)
		}
	}
	t.client.CloseIdleConnections()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("telemetry: shut down: %w", err)
	}
	return nil
}

// newClient makes a client that goes to the endpoint alone: by no proxy of the environment, and to no other place that an answer
// names.
func newClient(o *Options) *http.Client {
	return &http.Client{
		Timeout: o.Timeout,
		Transport: &http.Transport{
			ForceAttemptHTTP2:   true,
			TLSHandshakeTimeout: o.Timeout,
			MaxIdleConns:        idleConns,
			IdleConnTimeout:     time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// idleConns is one for each exporter.
const idleConns = 2

func newSpanExporter(ctx context.Context, o *Options, client *http.Client) (sdktrace.SpanExporter, error) {
	inner, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(signalURL(o.Endpoint, "traces")),
		otlptracehttp.WithHeaders(o.Headers),
		otlptracehttp.WithHTTPClient(client),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
	)
	if err != nil {
		return nil, err
	}
	return &spanExporter{SpanExporter: inner, about: o.resource(), news: news{logger: o.Logger, what: "traces"}}, nil
}

func newMetricExporter(ctx context.Context, o *Options, client *http.Client) (sdkmetric.Exporter, error) {
	inner, err := otlpmetrichttp.New(ctx,
		otlpmetrichttp.WithEndpointURL(signalURL(o.Endpoint, "metrics")),
		otlpmetrichttp.WithHeaders(o.Headers),
		otlpmetrichttp.WithHTTPClient(client),
		otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression),
	)
	if err != nil {
		return nil, err
	}
	return &metricExporter{Exporter: inner, about: o.resource(), news: news{logger: o.Logger, what: "metrics"}}, nil
}

func signalURL(endpoint, signal string) string {
	return strings.TrimSuffix(endpoint, "/") + "/v1/" + signal
}
