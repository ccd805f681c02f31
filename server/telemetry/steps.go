package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/server"
)

// The attributes of spans that are ours.
const (
	keySession attribute.Key = "sandbar.session.id"
	keyRun     attribute.Key = "sandbar.run.id"
	keyTier    attribute.Key = "sandbar.tier"
	keyBackend attribute.Key = "sandbar.backend"
	keyRoute   attribute.Key = "sandbar.route"
	keyReason  attribute.Key = "sandbar.reason"
	keyCode    attribute.Key = "error.type"
)

// Concerns implements server.Tracer.
func (t *Telemetry) Concerns(ctx context.Context, session, run string) {
	setAll(trace.SpanFromContext(ctx), pair{keySession, session}, pair{keyRun, run})
}

// Begin implements server.Tracer.
func (t *Telemetry) Begin(ctx context.Context, name server.StepName) func(server.Step) {
	if !trace.SpanContextFromContext(ctx).IsValid() { // a call without a span: it would be a trace of its own
		return func(server.Step) {}
	}
	_, span := t.tracer.Start(ctx, "run."+string(name))
	return func(s server.Step) {
		setAll(span, pair{keySession, s.Session}, pair{keyRun, s.Run}, pair{keyTier, string(s.Tier)}, pair{keyBackend, s.Backend},
			pair{keyRoute, s.Route}, pair{keyReason, string(s.Reason)})
		if s.Err != nil {
			span.SetStatus(codes.Error, "")
			setAll(span, pair{keyCode, wire.Error(s.Err).Code().String()})
		}
		span.End()
	}
}

type pair struct {
	key   attribute.Key
	value string
}

// setAll sets what is not empty.
func setAll(span trace.Span, pairs ...pair) {
	if !span.IsRecording() {
		return
	}
	var attrs []attribute.KeyValue
	for _, p := range pairs {
		if p.value != "" {
			attrs = append(attrs, p.key.String(p.value))
		}
	}
	span.SetAttributes(attrs...)
}
