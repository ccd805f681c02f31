package observe

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/protobuf/types/known/durationpb"

	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/server"
)

const (
	python = sandboxv2.ScriptType_SCRIPT_TYPE_PYTHON
	shell  = sandboxv2.ScriptType_SCRIPT_TYPE_SHELL
)

// scrape gives what /metrics says, of a histogram the count: `name{label="value",...}`, as Prometheus writes it.
func (r *rig) scrape() map[string]float64 {
	r.t.Helper()
	status, body := r.get("/metrics")
	if status != 200 {
		r.t.Fatalf("GET /metrics = %d: %s", status, body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	check(r.t, err)
	values := map[string]float64{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			values[name+labels(m)] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return values
}

func labels(m *dto.Metric) string {
	var out []string
	for _, l := range m.GetLabel() {
		out = append(out, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	if len(out) == 0 {
		return ""
	}
	return "{" + strings.Join(out, ",") + "}"
}

func TestMetrics_Exact(t *testing.T) {
	r := newRig(t, rigOptions{})
	ctx := t.Context()
	id, gone := r.open(nil), r.open(nil)
	for range 3 {
		_, _, err := r.run(&sandboxv2.RunRequest{SessionId: id, Script: "print('hi')"})
		check(t, err)
	}
	_, _, err := r.run(&sandboxv2.RunRequest{SessionId: id, Script: "import sys; sys.stderr.write('12345'); sys.exit(3)"})
	check(t, err)
	_, _, err = r.run(&sandboxv2.RunRequest{SessionId: id, Script: "try:\n  while True: pass\nexcept KeyboardInterrupt: pass", Timeout: durationpb.New(50 * time.Millisecond)})
	check(t, err)
	_, _, err = r.run(&sandboxv2.RunRequest{SessionId: id, Type: shell, Script: "echo hello"})
	check(t, err)
	if _, _, err = r.run(&sandboxv2.RunRequest{SessionId: id, Script: "pass", Cwd: "missing"}); err == nil {
		t.Error("a run in a directory that is not there was started")
	}

	_, err = r.alice.PutBytes(ctx, connect.NewRequest(&sandboxv2.PutBytesRequest{SessionId: id, Path: "f", Data: make([]byte, 10)}))
	check(t, err)
	for range 2 {
		_, err = r.alice.GetBytes(ctx, connect.NewRequest(&sandboxv2.GetBytesRequest{SessionId: id, Path: "f"}))
		check(t, err)
	}
	put := r.alice.PutFile(ctx)
	check(t, put.Send(&sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Header{Header: &sandboxv2.PutFileHeader{SessionId: id, Path: "g"}}}))
	for range 2 {
		check(t, put.Send(&sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Data{Data: make([]byte, 500_000)}}))
	}
	_, err = put.CloseAndReceive()
	check(t, err)
	got, err := r.alice.GetFile(ctx, connect.NewRequest(&sandboxv2.GetFileRequest{SessionId: id, Path: "g"}))
	check(t, err)
	for got.Receive() {
	}
	check(t, got.Err())
	got.Close()

	snap, err := r.alice.Snapshot(ctx, connect.NewRequest(&sandboxv2.SnapshotRequest{SessionId: id}))
	check(t, err)
	_, err = r.alice.Snapshot(ctx, connect.NewRequest(&sandboxv2.SnapshotRequest{SessionId: id}))
	check(t, err)
	_, err = r.alice.RemoveSnapshot(ctx, connect.NewRequest(&sandboxv2.RemoveSnapshotRequest{SnapshotId: snap.Msg.GetSnapshot().GetSnapshotId()}))
	check(t, err)
	_, err = r.alice.CloseSession(ctx, connect.NewRequest(&sandboxv2.CloseSessionRequest{SessionId: gone}))
	check(t, err)
	_, err = r.bob.CloseSession(ctx, connect.NewRequest(&sandboxv2.CloseSessionRequest{SessionId: id}))
	wantCode(t, err, connect.CodeNotFound)
	_, err = r.client("wrong").CloseSession(ctx, connect.NewRequest(&sandboxv2.CloseSessionRequest{SessionId: id}))
	wantCode(t, err, connect.CodeUnauthenticated)

	const service = "sandbox.v2.SandboxService/"
	calls := func(procedure, code string) string {
		return `sandbar_rpc_calls_total{code="` + code + `",procedure="` + service + procedure + `"}`
	}
	took := func(procedure string) string {
		return `sandbar_rpc_duration_seconds{procedure="` + service + procedure + `"}`
	}
	want := map[string]float64{
		`sandbar_sessions{backend="none"}`:                             1,
		`sandbar_sessions_opened_total{backend="none"}`:                2,
		`sandbar_sessions_closed_total{backend="none",reason="asked"}`: 1,
		`sandbar_session_open_duration_seconds{backend="none"}`:        2,
		`sandbar_session_close_duration_seconds{backend="none"}`:       1,
		`sandbar_snapshots`:                                                      1,
		`sandbar_snapshots_kept_total{source="taken"}`:                           2,
		`sandbar_runs{backend="",tier="wasm"}`:                                   0,
		`sandbar_runs{backend="none",tier="native"}`:                             0,
		`sandbar_runs_started_total{backend="",tier="wasm"}`:                     5,
		`sandbar_runs_started_total{backend="none",tier="native"}`:               1,
		`sandbar_run_start_failures_total{code="invalid_argument"}`:              1,
		`sandbar_runs_ended_total{backend="",reason="exited",tier="wasm"}`:       4,
		`sandbar_runs_ended_total{backend="",reason="timeout",tier="wasm"}`:      1,
		`sandbar_runs_ended_total{backend="none",reason="exited",tier="native"}`: 1,
		`sandbar_run_queue_wait_seconds`:                                         7,
		`sandbar_run_start_duration_seconds{backend="",tier="wasm"}`:             5,
		`sandbar_run_start_duration_seconds{backend="none",tier="native"}`:       1,
		`sandbar_run_duration_seconds{backend="",tier="wasm"}`:                   5,
		`sandbar_run_duration_seconds{backend="none",tier="native"}`:             1,
		`sandbar_run_output_bytes_total{stream="stdout"}`:                        3*3 + 6,
		`sandbar_run_output_bytes_total{stream="stderr"}`:                        5,
		`sandbar_run_slots_taken`:                                                0,
		`sandbar_run_queue_length`:                                               0,
		`sandbar_draining`:                                                       0,
		`sandbar_file_bytes_total{direction="put"}`:                              1_000_010,
		`sandbar_file_bytes_total{direction="got"}`:                              1_000_020,
		`sandbar_wasm_interpreter_loaded`:                                        1,
		calls("OpenSession", "ok"):                                               2, took("OpenSession"): 2,
		calls("Run", "ok"): 6, calls("Run", "invalid_argument"): 1, took("Run"): 7,
		calls("PutBytes", "ok"): 1, took("PutBytes"): 1,
		calls("GetBytes", "ok"): 2, took("GetBytes"): 2,
		calls("PutFile", "ok"): 1, took("PutFile"): 1,
		calls("GetFile", "ok"): 1, took("GetFile"): 1,
		calls("Snapshot", "ok"): 2, took("Snapshot"): 2,
		calls("RemoveSnapshot", "ok"): 1, took("RemoveSnapshot"): 1,
		calls("CloseSession", "ok"): 1, calls("CloseSession", "not_found"): 1, calls("CloseSession", "unauthenticated"): 1, took("CloseSession"): 3,
		`sandbar_build_info`: 1,
		`taken`:              5,
	}
	var have map[string]float64
	eventually(t, "all runs have ended", func() bool {
		have = ours(r.scrape())
		return cmp.Equal(have, want)
	}, func() string { return cmp.Diff(want, have) })
	r.documented()
}

// documented looks for all metrics in the documentation.
func (r *rig) documented() {
	r.t.Helper()
	text, err := os.ReadFile("../../../docs/observability.md")
	check(r.t, err)
	for key := range r.scrape() {
		name, _, _ := strings.Cut(key, "{")
		if strings.HasPrefix(name, "sandbar_") && !strings.Contains(string(text), "`"+name+"`") {
			r.t.Errorf("docs/observability.md has no %s", name)
		}
	}
}

// ours are the values of this module that can be foretold. How many interpreters were ready is a matter of time: their sum is not.
func ours(all map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for key, v := range all {
		name, _, _ := strings.Cut(key, "{")
		switch {
		case !strings.HasPrefix(name, "sandbar_"), name == "sandbar_wasm_instances_idle":
		case name == "sandbar_wasm_instances_taken_total":
			out["taken"] += v
		case name == "sandbar_build_info":
			out[name] += v
		default:
			out[key] = v
		}
	}
	return out
}

func wantCode(t *testing.T, err error, code connect.Code) {
	t.Helper()
	if err == nil || connect.CodeOf(err) != code {
		t.Errorf("error = %v, want code %v", err, code)
	}
}

func TestMetrics_Lint(t *testing.T) {
	r := newRig(t, rigOptions{})
	id := r.open(nil)
	_, _, err := r.run(&sandboxv2.RunRequest{SessionId: id, Script: "pass"})
	check(t, err)
	_, body := r.get("/metrics")
	problems, err := promlint.New(bytes.NewReader(body)).Lint()
	check(t, err)
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "sandbar_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	for _, name := range []string{"go_goroutines", "process_start_time_seconds"} {
		if !strings.Contains(string(body), "\n"+name+" ") {
			t.Errorf("/metrics has no %s", name)
		}
	}
}

func TestMetrics_Queue(t *testing.T) {
	r := newRig(t, rigOptions{limits: server.Limits{Runs: 1, QueuedRuns: 1}})
	id := r.open(nil)
	first, release := r.hold(id)
	defer first.Close()
	second := make(chan error, 1)
	go func() {
		_, _, err := r.run(&sandboxv2.RunRequest{SessionId: id, Script: "pass"})
		second <- err
	}()
	eventually(t, "one run is under way and one waits", func() bool {
		v := r.scrape()
		return v["sandbar_run_queue_length"] == 1 && v["sandbar_run_slots_taken"] == 1 && v[`sandbar_runs{backend="",tier="wasm"}`] == 1
	})
	_, _, err := r.run(&sandboxv2.RunRequest{SessionId: id, Script: "pass"})
	wantCode(t, err, connect.CodeResourceExhausted)
	if got := r.scrape()[`sandbar_run_queue_failures_total{code="resource_exhausted"}`]; got != 1 {
		t.Errorf("runs that got no slot = %v, want 1", got)
	}
	release()
	check(t, <-second)
	eventually(t, "no run is under way or waits", func() bool {
		v := r.scrape()
		return v["sandbar_run_queue_length"] == 0 && v["sandbar_run_slots_taken"] == 0 && v[`sandbar_runs{backend="",tier="wasm"}`] == 0
	})
}

// hold starts a run that lasts until release.
func (r *rig) hold(id string) (stream io.Closer, release func()) {
	r.t.Helper()
	run := r.alice.RunInteractive(r.t.Context())
	start := &sandboxv2.RunRequest{SessionId: id, Type: python, Script: "print(1, flush=True); input()"}
	check(r.t, run.Send(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_Start{Start: start}}))
	_, err := run.Receive()
	check(r.t, err)
	return closer(run.CloseResponse), func() {
		check(r.t, run.Send(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_Stdin{Stdin: []byte("\n")}}))
	}
}

type closer func() error

func (c closer) Close() error { return c() }

// No caller makes series: whatever is asked for, their number is what it was.
func TestMetrics_Cardinality(t *testing.T) {
	r := newRig(t, rigOptions{})
	r.open(nil)
	before := keys(r.scrape())
	for i := range 20 {
		odd := fmt.Sprintf("odd-%d", i)
		_, err := r.client(odd).GetSession(t.Context(), connect.NewRequest(&sandboxv2.GetSessionRequest{SessionId: odd}))
		wantCode(t, err, connect.CodeUnauthenticated)
		_, err = r.alice.OpenSession(t.Context(), connect.NewRequest(&sandboxv2.OpenSessionRequest{Options: &sandboxv2.SessionOptions{Backend: odd}, Label: odd}))
		if err == nil {
			t.Fatalf("backend %s was taken", odd)
		}
		r.post("/sandbox.v2.SandboxService/" + odd)
		r.post("/" + odd)
	}
	var added []string
	for _, k := range keys(r.scrape()) {
		if !slices.Contains(before, k) {
			added = append(added, k)
		}
	}
	for _, k := range added {
		if strings.Contains(k, "odd-") || !strings.HasPrefix(k, "sandbar_rpc_") {
			t.Errorf("a caller has made %s", k)
		}
	}
	if len(added) > 4 { // calls and times of OpenSession and GetSession
		t.Errorf("callers have made %d series: %v", len(added), added)
	}
}

func keys(m map[string]float64) []string { return slices.Sorted(maps.Keys(m)) }
