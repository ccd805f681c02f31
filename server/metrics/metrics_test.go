package metrics

import (
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/server"
)

func text(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// Whatever a server tells, labels have values of fixed sets.
func TestMetrics_Other(t *testing.T) {
	m := New(&Options{Backends: []string{"userns"}})
	for i := range 10 {
		odd := fmt.Sprintf("odd%d", i)
		m.SessionOpened(odd, time.Second, nil)
		m.SessionOpened(odd, time.Second, errors.New(odd))
		m.SessionClosed(odd, odd, time.Second)
		m.RunStarted(engine.Tier(odd), odd, time.Second, nil)
		m.RunEnded(engine.Tier(odd), odd, &engine.Result{Reason: engine.Reason(odd), WallTime: engine.Unknown, StdoutBytes: engine.Unknown}, nil)
		m.CallEnded("/"+odd+"/"+odd, odd, time.Second)
	}
	got := text(t, m)
	if strings.Contains(got, "odd") {
		t.Errorf("a label has a value of no set:\n%s", got)
	}
	for _, want := range []string{
		`sandbar_sessions_closed_total{backend="other",reason="other"} 10`,
		`sandbar_session_open_failures_total{backend="other",code="internal"} 10`,
		`sandbar_runs_ended_total{backend="other",reason="other",tier="other"} 10`,
		`sandbar_rpc_calls_total{code="other",procedure="other"} 10`,
		`sandbar_run_output_bytes_total{stream="stdout"} 0`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
}

func TestMetrics_Words(t *testing.T) {
	for _, p := range []string{
		"/sandbox.v2.SandboxService/Run", "/sandbox.v2.SandboxService/PutSnapshot", "/grpc.health.v1.Health/Check",
		"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
	} {
		if got := procedureWord(p); got != p[1:] {
			t.Errorf("procedureWord(%q) = %q", p, got)
		}
	}
	for _, why := range []string{server.ClosedAsked, server.ClosedUnused, server.ClosedLifetime, server.ClosedServer} {
		if closeWord(why) == other {
			t.Errorf("closeWord(%q) = %q", why, other)
		}
	}
	for err, want := range map[error]string{
		nil: "ok", engine.ErrLost: "data_loss", &engine.LimitError{What: "runs"}: "resource_exhausted", errors.New("x"): "internal",
	} {
		if got := codeOf(err); got != want {
			t.Errorf("codeOf(%v) = %q, want %q", err, got, want)
		}
	}
}

func TestMetrics_LostRun(t *testing.T) {
	m := New(&Options{Backends: []string{"userns"}})
	m.RunStarted(engine.TierNative, "userns", time.Second, nil)
	m.RunEnded(engine.TierNative, "userns", &engine.Result{}, engine.ErrLost)
	got := text(t, m)
	for _, want := range []string{
		`sandbar_runs_ended_total{backend="userns",reason="lost",tier="native"} 1`, `sandbar_runs{backend="userns",tier="native"} 0`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
}

func TestMetrics_WatchTwice(t *testing.T) {
	m := New(nil)
	for i, want := range []bool{true, false} {
		if err := m.WatchServer(func() server.Figures { return server.Figures{} }); (err == nil) != want {
			t.Errorf("WatchServer() %d = %v", i+1, err)
		}
		if err := m.WatchPool(func() Pool { return Pool{Ready: 3, Made: 1, Loaded: true} }); (err == nil) != want {
			t.Errorf("WatchPool() %d = %v", i+1, err)
		}
	}
	if got := text(t, m); !strings.Contains(got, `sandbar_wasm_instances_taken_total{source="ready"} 3`) {
		t.Errorf("no figures of the pool:\n%s", got)
	}
}

func TestMetrics_Hammer(t *testing.T) {
	m := New(&Options{Backends: []string{"userns"}})
	var all sync.WaitGroup
	const workers, each = 8, 200
	for range workers {
		all.Go(func() {
			for range each {
				m.SessionOpened("userns", time.Millisecond, nil)
				m.RunQueued(time.Millisecond, nil)
				m.RunStarted(engine.TierWasm, "", time.Millisecond, nil)
				m.RunEnded(engine.TierWasm, "", &engine.Result{Reason: engine.ReasonExited, StdoutBytes: 2}, nil)
				m.SnapshotKept(true)
				m.SnapshotRemoved()
				m.FileMoved(true, 1)
				m.CallEnded("/sandbox.v2.SandboxService/Run", server.CodeOK, time.Millisecond)
				m.SessionClosed("userns", server.ClosedAsked, time.Millisecond)
			}
			text(t, m)
		})
	}
	all.Wait()
	got := text(t, m)
	for _, want := range []string{
		`sandbar_sessions{backend="userns"} 0`, `sandbar_snapshots 0`, fmt.Sprintf(`sandbar_run_output_bytes_total{stream="stdout"} %d`, 2*workers*each),
		fmt.Sprintf(`sandbar_rpc_calls_total{code="ok",procedure="sandbox.v2.SandboxService/Run"} %d`, workers*each),
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
}
