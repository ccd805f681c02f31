// Package telemetry sends traces and metrics of a server to an OpenTelemetry collector, by OTLP over HTTP. A program that
// does not call Start sends nothing, and makes no spans.
//
// There is a span for each call, with one each below it for the wait of a run in the queue, its start and the run. The caller's
// trace goes on in them: W3C trace context is read, and baggage is not. What is sent of a span is its name, times, code and the attributes
// that this package knows: ids of sessions and runs, tier, backend, reason, route. Texts of errors are not sent, since they can
// have paths and names of a script in them.
package telemetry
