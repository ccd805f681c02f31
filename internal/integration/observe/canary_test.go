package observe

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// A canary is a text that must not be found where it does not belong. All begin with the same letters, so that one search finds
// them, and end with what it was.
const canary = "CaNaRy"

var shortTime = durationpb.New(50 * time.Millisecond)

func canaryOf(what string) string { return canary + "_" + what }

// forms are how a text may look where it has leaked.
func forms(text string) []string {
	return []string{text, base64.StdEncoding.EncodeToString([]byte(text))[:len(text)/3*4], hex.EncodeToString([]byte(text)), strings.ToLower(text)}
}

// Nothing that callers send, and nothing that scripts write, is in logs at their finest, spans, metrics, the admin listener's
// answers, or what others are told.
func TestCanaries(t *testing.T) {
	c := newCollector(t)
	r := newRig(t, rigOptions{collector: c.url})
	d := &driven{rig: r}
	d.session = r.open(&sandboxv2.SessionOptions{
		Network: sandboxv2.NetworkMode_NETWORK_MODE_OPEN, PythonTier: sandboxv2.Tier_TIER_AUTO,
		Env: map[string]string{"SESSION_" + canary: canaryOf("session_env")},
	})
	d.runs()
	d.attached()
	d.files()
	d.failures()
	d.strangers()
	d.settled()
	_, err := r.alice.CloseSession(t.Context(), connect.NewRequest(&sandboxv2.CloseSessionRequest{SessionId: d.session}))
	check(t, err)
	check(t, r.telemetry.Shutdown(context.WithoutCancel(t.Context())))

	_, metrics := r.get("/metrics")
	_, ready := r.get("/readyz")
	places := map[string][]byte{
		"log": []byte(r.log.text()), "telemetry": c.raw, "metrics": metrics, "readiness": ready, "errors of others": d.errors.Bytes(),
	}
	secrets := append(forms(canary), forms(r.tokens[0])...)
	secrets = append(secrets, forms(r.tokens[1])...)
	for place, text := range places {
		if len(text) == 0 {
			t.Errorf("%s: there is nothing", place)
		}
		for _, secret := range secrets {
			if at := bytes.Index(text, []byte(secret)); at >= 0 {
				t.Errorf("%s has %q: ...%q...", place, secret, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
	d.wantLines()
}

// driven is a rig with a session of alice, in which much happens.
type driven struct {
	*rig
	session string
	run1    string       // a run that has ended
	errors  bytes.Buffer // what bob was told
}

// try is for calls that may fail: what they log is what matters.
func (d *driven) try(m *sandboxv2.RunRequest) (*sandboxv2.Result, error) {
	m.SessionId = d.session
	m.Env = map[string]string{"RUN_" + canary: canaryOf("run_env")}
	id, result, err := d.run(m)
	if id != "" {
		d.run1 = id
	}
	return result, err
}

func (d *driven) runs() {
	for _, m := range []*sandboxv2.RunRequest{
		{Script: "import os, sys; print('" + canaryOf("script") + "', os.environ, sys.stdin.read(), sys.argv)", Stdin: []byte(canaryOf("stdin")), Args: []string{canaryOf("arg")}},
		{Script: "raise ValueError('" + canaryOf("exception") + "')"},
		{Script: "syntax error " + canaryOf("syntax")},
		{Script: canaryOf("live") + " = 1; " + canaryOf("live"), Interpreter: sandboxv2.Interpreter_INTERPRETER_SESSION},
		{Script: "import " + canaryOf("module")},
		{Script: "import " + canaryOf("module") + ", subprocess, ctypes"},
		{Script: "while True: pass # " + canaryOf("timeout")},
		{Script: "pass", Cwd: canaryOf("cwd")},
		{Script: "pass", Name: canaryOf("name") + "/.."},
		{Script: "pass", Name: canaryOf("name") + ".py"},
		{Script: "pass", Env: map[string]string{canaryOf("bad=name"): "x"}},
		{Type: shell, Script: "echo " + canaryOf("shell") + "; env; cat; echo $0 $@ >&2", Stdin: []byte(canaryOf("stdin")), Args: []string{canaryOf("arg")}},
		{Type: shell, Script: "kill -9 $$ # " + canaryOf("killed")},
		{Type: shell, Script: canaryOf("nul") + "\x00"},
		{Type: 77, Script: canaryOf("type")},
	} {
		if strings.HasPrefix(m.GetScript(), "while") {
			m.Timeout = shortTime
		}
		if env := m.GetEnv(); env != nil { // a name that is wrong
			m.SessionId = d.session
			_, _, _ = d.run(m)
			continue
		}
		_, _ = d.try(m)
	}
	result, err := d.try(&sandboxv2.RunRequest{Script: "print('" + canary + "')"})
	check(d.t, err)
	if result.GetStdoutBytes() != int64(len(canary)+1) { // the rest of the test would prove nothing
		d.t.Errorf("a script wrote %d bytes, want %d", result.GetStdoutBytes(), len(canary)+1)
	}
}

// attached has an interactive run, and a detached one.
func (d *driven) attached() {
	ctx := d.t.Context()
	run := d.alice.RunInteractive(ctx)
	start := &sandboxv2.RunRequest{SessionId: d.session, Script: "print(input() + '" + canaryOf("interactive") + "')"}
	check(d.t, run.Send(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_Start{Start: start}}))
	check(d.t, run.Send(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_Stdin{Stdin: []byte(canaryOf("typed") + "\n")}}))
	_ = run.Send(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_StdinEnd{StdinEnd: &sandboxv2.StdinEnd{Error: canaryOf("stdin_error")}}})
	check(d.t, run.CloseRequest())
	for {
		if _, err := run.Receive(); err != nil {
			break
		}
	}
	check(d.t, run.CloseResponse())

	id, _, err := d.run(&sandboxv2.RunRequest{SessionId: d.session, Script: "print('" + canaryOf("detached") + "')", Detach: true})
	check(d.t, err)
	again, err := d.alice.AttachRun(ctx, connect.NewRequest(&sandboxv2.AttachRunRequest{SessionId: d.session, RunId: id}))
	check(d.t, err)
	for again.Receive() {
	}
	check(d.t, again.Close())
	_, err = d.alice.WriteStdin(ctx, connect.NewRequest(&sandboxv2.WriteStdinRequest{SessionId: d.session, RunId: id, Data: []byte(canaryOf("late_stdin"))}))
	wantCode(d.t, err, connect.CodeFailedPrecondition)
}

func (d *driven) files() {
	ctx := d.t.Context()
	path := canaryOf("path")
	put := func(path string) error {
		_, err := d.alice.PutBytes(ctx, connect.NewRequest(&sandboxv2.PutBytesRequest{SessionId: d.session, Path: path, Data: []byte(canaryOf("content"))}))
		return err
	}
	check(d.t, put(path))
	for _, bad := range []string{path + "/below", "../" + path, path + "\x00"} {
		if put(bad) == nil {
			d.t.Errorf("put %q: no error", bad)
		}
	}
	_, err := d.alice.GetBytes(ctx, connect.NewRequest(&sandboxv2.GetBytesRequest{SessionId: d.session, Path: path}))
	check(d.t, err)
	for _, missing := range []string{canaryOf("missing"), canaryOf("missing") + "/x"} {
		_, err = d.alice.GetBytes(ctx, connect.NewRequest(&sandboxv2.GetBytesRequest{SessionId: d.session, Path: missing}))
		wantCode(d.t, err, connect.CodeNotFound)
	}
	up := d.alice.PutSnapshot(ctx)
	_ = up.Send(&sandboxv2.PutSnapshotRequest{Data: []byte(canaryOf("snapshot"))})
	_, err = up.CloseAndReceive()
	wantCode(d.t, err, connect.CodeInvalidArgument)
}

// failures are those that the log is told of.
func (d *driven) failures() {
	ctx := d.t.Context()
	warm := d.open(&sandboxv2.SessionOptions{Warm: "print('" + canaryOf("warm_output") + "'); raise ValueError('" + canaryOf("warm_error") + "')"})
	_, _, err := d.run(&sandboxv2.RunRequest{SessionId: warm, Script: "pass"})
	if err == nil || !strings.Contains(err.Error(), canaryOf("warm_error")) {
		d.t.Errorf("a run in a session whose warm-up fails = %v, want why it does", err)
	}
	_, err = d.alice.OpenSession(ctx, connect.NewRequest(&sandboxv2.OpenSessionRequest{
		Options: &sandboxv2.SessionOptions{Env: map[string]string{"X": "panic " + canaryOf("panic")}}, Label: canaryOf("label"),
	}))
	wantCode(d.t, err, connect.CodeInternal)
	for _, o := range []*sandboxv2.SessionOptions{
		{Backend: canaryOf("backend")},
		{WorkDir: "/" + canaryOf("work")},
		{ReadOnly: []string{"/" + canaryOf("read_only")}},
		{Overlay: canaryOf("overlay")},
		{Env: map[string]string{"a=" + canary: canary}},
	} {
		_, err = d.alice.OpenSession(ctx, connect.NewRequest(&sandboxv2.OpenSessionRequest{Options: o}))
		if err == nil {
			d.t.Errorf("a session with %v was opened", o)
		}
	}
	_, err = d.alice.GetSession(ctx, connect.NewRequest(&sandboxv2.GetSessionRequest{SessionId: canaryOf("session_id")}))
	wantCode(d.t, err, connect.CodeNotFound)
	_, err = d.alice.SignalRun(ctx, connect.NewRequest(&sandboxv2.SignalRunRequest{SessionId: d.session, RunId: canaryOf("run_id")}))
	wantCode(d.t, err, connect.CodeNotFound)
}

// strangers are bob, and who has no token that is good.
func (d *driven) strangers() {
	ctx := d.t.Context()
	for _, token := range []string{canaryOf("wrong_token"), canaryOf("token with spaces"), strings.Repeat(canary, 200), "sbr_" + canary} {
		_, err := d.client(token).GetSession(ctx, connect.NewRequest(&sandboxv2.GetSessionRequest{SessionId: d.session}))
		wantCode(d.t, err, connect.CodeUnauthenticated)
	}
	d.post("/sandbox.v2.SandboxService/GetSession?token=" + canaryOf("query"))
	d.post("/" + canaryOf("url"))
	basic := &http.Client{Transport: withHeader{d.transport, "Authorization", canaryOf("scheme") + " x"}}
	_, err := sandboxv2connect.NewSandboxServiceClient(basic, d.url).ListSessions(ctx, connect.NewRequest(&sandboxv2.ListSessionsRequest{}))
	wantCode(d.t, err, connect.CodeUnauthenticated)

	for _, id := range []string{d.session, "nothing"} {
		var all []string
		for _, call := range d.bobs(id) {
			err := call()
			wantCode(d.t, err, connect.CodeNotFound)
			all = append(all, describe(err))
		}
		d.errors.WriteString(strings.Join(all, "\n"))
	}
	half := d.errors.Len() / 2
	if text := d.errors.String(); text[:half] != text[half:] {
		d.t.Errorf("bob learns from errors which of two sessions there is:\n%s\n%s", text[:half], text[half:])
	}
}

// bobs are calls of bob's on a session that is not his.
func (d *driven) bobs(id string) []func() error {
	ctx := d.t.Context()
	return []func() error{
		func() error {
			_, err := d.bob.GetSession(ctx, connect.NewRequest(&sandboxv2.GetSessionRequest{SessionId: id}))
			return err
		},
		func() error {
			stream, err := d.bob.Run(ctx, connect.NewRequest(&sandboxv2.RunRequest{SessionId: id, Script: "pass"}))
			if err != nil {
				return err
			}
			defer stream.Close()
			stream.Receive()
			return stream.Err()
		},
		func() error {
			stream, err := d.bob.AttachRun(ctx, connect.NewRequest(&sandboxv2.AttachRunRequest{SessionId: id, RunId: d.run1}))
			if err != nil {
				return err
			}
			defer stream.Close()
			stream.Receive()
			return stream.Err()
		},
		func() error {
			_, err := d.bob.GetBytes(ctx, connect.NewRequest(&sandboxv2.GetBytesRequest{SessionId: id, Path: canaryOf("path")}))
			return err
		},
		func() error {
			_, err := d.bob.ListRuns(ctx, connect.NewRequest(&sandboxv2.ListRunsRequest{SessionId: id}))
			return err
		},
		func() error {
			_, err := d.bob.WriteStdin(ctx, connect.NewRequest(&sandboxv2.WriteStdinRequest{SessionId: id, RunId: d.run1}))
			return err
		},
		func() error {
			_, err := d.bob.CloseSession(ctx, connect.NewRequest(&sandboxv2.CloseSessionRequest{SessionId: id}))
			return err
		},
	}
}

// describe is all that an error says, its details and metadata too.
func describe(err error) string {
	var e *connect.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := e.Error()
	for _, detail := range e.Details() {
		text += " " + detail.Type() + " " + string(detail.Bytes())
	}
	return text
}

// settled waits until no run is under way.
func (d *driven) settled() {
	eventually(d.t, "no run is under way", func() bool {
		for key, v := range d.scrape() {
			if strings.HasPrefix(key, "sandbar_runs{") && v != 0 {
				return false
			}
		}
		return true
	})
}

// wantLines looks for what the log must have, so that it is no wonder that it has nothing else.
func (d *driven) wantLines() {
	t := d.t
	byRun := map[string]map[string]any{}
	for _, m := range d.log.lines(t, "call ended") {
		if m["call"] == sandboxv2connect.SandboxServiceRunProcedure && m["run"] == d.run1 {
			byRun["call ended"] = m
		}
		for _, key := range []string{"call", "code", "took"} {
			if m[key] == nil {
				t.Errorf("a call's line has no %s: %v", key, m)
			}
		}
	}
	for _, msg := range []string{"run started", "run ended"} {
		for _, m := range d.log.lines(t, msg) {
			if m["run"] == d.run1 {
				byRun[msg] = m
			}
		}
	}
	for _, msg := range []string{"run started", "run ended", "call ended"} {
		m := byRun[msg]
		if m == nil || m["session"] != d.session || m["level"] != "DEBUG" {
			t.Errorf("line %q of run %s = %v, want one of the session at debug", msg, d.run1, m)
		}
	}
	if m := byRun["call ended"]; m["principal"] != "alice" || m["code"] != "ok" {
		t.Errorf("the call's line = %v, want alice and ok", m)
	}
	if n := len(d.log.lines(t, "caller refused")); n < 5 {
		t.Errorf("%d lines about callers that were refused, want 5 and more", n)
	}
	for _, msg := range []string{"call failed", "panic in a call"} {
		lines := d.log.lines(t, msg)
		if len(lines) == 0 {
			t.Errorf("there is no line %q: what it must not say was not tried", msg)
		}
		for _, m := range lines {
			if m["principal"] != "alice" {
				t.Errorf("line %q = %v, want it to name alice", msg, m)
			}
		}
	}
}
