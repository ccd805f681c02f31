package observe

import (
	"context"
	"net/http"
	"os/exec"
	"testing"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/sandbar-dev/sandbar/internal/testneed"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

const runCall = "sandbox.v2.SandboxService/Run"

func TestTelemetry_Spans(t *testing.T) {
	c := newCollector(t)
	r := newRig(t, rigOptions{collector: c.url})
	session := r.open(&sandboxv2.SessionOptions{Network: sandboxv2.NetworkMode_NETWORK_MODE_OPEN})
	const traceID, parentID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	traced := sandboxv2connect.NewSandboxServiceClient(&http.Client{Transport: withHeader{
		withHeader{r.transport, "Authorization", "Bearer " + r.tokens[0]}, "Traceparent", "00-" + traceID + "-" + parentID + "-01",
	}}, r.url)
	plain := r.alice
	r.alice = traced
	wasmRun, _, err := r.run(&sandboxv2.RunRequest{SessionId: session, Script: "print(1)"})
	check(t, err)
	r.alice = plain
	live, _, err := r.run(&sandboxv2.RunRequest{SessionId: session, Script: "x = 1", Interpreter: sandboxv2.Interpreter_INTERPRETER_SESSION})
	check(t, err)
	shellRun, _, err := r.run(&sandboxv2.RunRequest{SessionId: session, Type: shell, Script: "exit 1"})
	check(t, err)
	_, err = r.alice.Health(t.Context(), connect.NewRequest(&sandboxv2.HealthRequest{}))
	check(t, err)
	r.settle(3)
	check(t, r.telemetry.Shutdown(context.WithoutCancel(t.Context())))

	call := c.span(runCall, "sandbar.run.id", wasmRun)
	if id(call.GetTraceId()) != traceID || id(call.GetParentSpanId()) != parentID {
		t.Errorf("the call's span is of trace %x below %x, want those of the caller", call.GetTraceId(), call.GetParentSpanId())
	}
	if call.GetKind() != tracepb.Span_SPAN_KIND_SERVER {
		t.Errorf("the call's span is of kind %v", call.GetKind())
	}
	for _, row := range []struct{ step, run, tier, backend, route, reason string }{
		{"start", wasmRun, "wasm", "", "direct", ""},
		{"run", wasmRun, "wasm", "", "direct", "exited"},
		{"run", live, "wasm", "", "live", "exited"},
		{"run", shellRun, "native", "none", "direct", "exited"},
	} {
		span := c.span("run."+row.step, "sandbar.run.id", row.run)
		got, want := attributes(span), map[string]string{"sandbar.session.id": session, "sandbar.run.id": row.run}
		for k, v := range map[string]string{"tier": row.tier, "backend": row.backend, "route": row.route, "reason": row.reason} {
			if v != "" {
				want["sandbar."+k] = v
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("attributes of %s of run %s: %s", row.step, row.run, diff)
		}
		of := c.span(runCall, "sandbar.run.id", row.run)
		if id(span.GetParentSpanId()) != id(of.GetSpanId()) || id(span.GetTraceId()) != id(of.GetTraceId()) {
			t.Errorf("the span of %s is not below that of its call", row.step)
		}
	}
	names := map[string]int{}
	for _, s := range c.spans {
		names[s.GetName()]++
	}
	want := map[string]int{"sandbox.v2.SandboxService/OpenSession": 1, runCall: 3, "run.queue": 3, "run.start": 3, "run.run": 3}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("spans: %s", diff)
	}
	c.wantMetric(t, "rpc.server.call.duration")
}

// settle waits until so many runs have ended, and the server knows it.
func (r *rig) settle(runs float64) {
	r.t.Helper()
	eventually(r.t, "all runs have ended", func() bool {
		var ended float64
		for key, v := range r.scrape() {
			if len(key) > 24 && key[:24] == "sandbar_runs_ended_total" {
				ended += v
			}
		}
		return ended == runs
	})
}

func (c *collector) wantMetric(t *testing.T, name string) {
	t.Helper()
	for _, m := range c.metrics {
		if m.GetName() != name {
			continue
		}
		if len(m.GetHistogram().GetDataPoints()) == 0 {
			t.Errorf("the metric %s has no data", name)
		}
		return
	}
	t.Errorf("there is no metric %s", name)
}

// A module that the wasm tier does not have is named in the route of the run and in errors, and not in spans.
func TestTelemetry_RefusedScript(t *testing.T) {
	_, err := exec.LookPath("python3") // for the native tier
	testneed.Feature(t, "python3", err)
	c := newCollector(t)
	r := newRig(t, rigOptions{collector: c.url})
	session := r.open(&sandboxv2.SessionOptions{
		Network: sandboxv2.NetworkMode_NETWORK_MODE_OPEN, PythonTier: sandboxv2.Tier_TIER_AUTO,
	})
	run, result, err := r.run(&sandboxv2.RunRequest{SessionId: session, Script: "import subprocess; subprocess.run(['true'])"})
	check(t, err)
	r.settle(1)
	check(t, r.telemetry.Shutdown(context.WithoutCancel(t.Context())))
	got := attributes(c.span("run.run", "sandbar.run.id", run))
	if got["sandbar.route"] != "refused" || got["sandbar.tier"] != "native" {
		t.Errorf("tier %s by route %s, want native by refused; the server said %q", got["sandbar.tier"], got["sandbar.route"], result.GetRoute())
	}
}

// A collector that is not there costs nothing but spans.
func TestTelemetry_NoCollector(t *testing.T) {
	r := newRig(t, rigOptions{collector: "http://127.0.0.1:1"})
	session := r.open(nil)
	_, _, err := r.run(&sandboxv2.RunRequest{SessionId: session, Script: "print(1)"})
	check(t, err)
	check(t, r.telemetry.Shutdown(context.WithoutCancel(t.Context())))
	if n := len(r.log.lines(t, "telemetry is not exported")); n != 2 {
		t.Errorf("%d lines about exports that fail, want one for traces and one for metrics:\n%s", n, r.log.text())
	}
}
