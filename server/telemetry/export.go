package telemetry

import (
	"context"
	"log/slog"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// allowed are the attributes that are sent: ours, and those of otelconnect that say which call it was and how it ended.
var allowed = map[attribute.Key]bool{
	keySession: true, keyRun: true, keyTier: true, keyBackend: true, keyRoute: true, keyReason: true, keyCode: true,
	"rpc.system.name": true, "rpc.method": true, "rpc.response.status_code": true, "http.response.status_code": true,
}

// A plainSpan is what is sent of a span. The text of its status is that of an error, with paths and names in it; events can
// have such texts too.
type plainSpan struct {
	sdktrace.ReadOnlySpan
	about *resource.Resource
}

// Resource implements sdktrace.ReadOnlySpan. The SDK's own has what environment variables say.
func (s plainSpan) Resource() *resource.Resource { return s.about }

// Status implements sdktrace.ReadOnlySpan.
func (s plainSpan) Status() sdktrace.Status {
	return sdktrace.Status{Code: s.ReadOnlySpan.Status().Code}
}

// Events implements sdktrace.ReadOnlySpan.
func (plainSpan) Events() []sdktrace.Event { return nil }

// Attributes implements sdktrace.ReadOnlySpan.
func (s plainSpan) Attributes() []attribute.KeyValue {
	var out []attribute.KeyValue
	for _, a := range s.ReadOnlySpan.Attributes() {
		if allowed[a.Key] {
			out = append(out, a)
		}
	}
	return out
}

// spanExporter sends plain spans.
type spanExporter struct {
	sdktrace.SpanExporter
	about *resource.Resource
	news  news
}

// ExportSpans implements sdktrace.SpanExporter. An error is for our logger: what the SDK would do with it is print it.
func (e *spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	plain := make([]sdktrace.ReadOnlySpan, len(spans))
	for i, s := range spans {
		plain[i] = plainSpan{s, e.about}
	}
	e.news.tell(ctx, e.SpanExporter.ExportSpans(ctx, plain))
	return nil
}

// metricExporter is as spanExporter is.
type metricExporter struct {
	sdkmetric.Exporter
	about *resource.Resource
	news  news
}

// Export implements sdkmetric.Exporter.
func (e *metricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	ours := *m
	ours.Resource = e.about
	e.news.tell(ctx, e.Exporter.Export(ctx, &ours))
	return nil
}

// news logs when exports begin to fail, and when they work again.
type news struct {
	logger *slog.Logger
	what   string

	mu      sync.Mutex
	failing bool
}

func (n *news) tell(ctx context.Context, err error) {
	n.mu.Lock()
	changed := n.failing != (err != nil)
	n.failing = err != nil
	n.mu.Unlock()
	switch {
	case !changed:
	case err != nil:
		n.logger.LogAttrs(ctx, slog.LevelWarn, "telemetry is not exported", slog.String("what", n.what), slog.Any("err", err))
	default:
		n.logger.LogAttrs(ctx, slog.LevelInfo, "telemetry is exported again", slog.String("what", n.what))
	}
}
