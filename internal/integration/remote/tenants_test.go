package remote

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/server"
)

// tokenFile makes a file of tokens, and the tokens of its names.
func tokenFile(tb testing.TB, names ...string) (path string, tokens []string) {
	tb.Helper()
	var text strings.Builder
	for _, name := range names {
		token, hash := server.NewToken()
		text.WriteString(name + " " + hash + "\n")
		tokens = append(tokens, token)
	}
	path = filepath.Join(tb.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path, tokens
}

// withoutIDs are the calls that name nothing that could be somebody else's. TestTenants finds all others by themselves.
var withoutIDs = []string{"Health", "OpenSession", "ListSessions", "ListSnapshots", "PutSnapshot"}

// belongings is what a principal has.
type belongings struct{ session, run, snapshot string }

// TestTenants makes every call with what belongs to somebody else: cases C148. The answer is that for what is not there, to the
// last byte.
func TestTenants(t *testing.T) {
	file, tokens := tokenFile(t, "alice", "bob")
	p := launch(t, setup{Tokens: file})
	alice, aliceRun, aliceHas := tenant(t, p.url(), tokens[0])
	_, _, bobHas := tenant(t, p.url(), tokens[1])
	wire := h2c(t)
	credentials := map[string]string{"Authorization": "Bearer " + tokens[1]}
	nothing := belongings{strings.Repeat("a", 26), strings.Repeat("b", 26), strings.Repeat("c", 26)}
	foreign := []struct {
		name string
		has  belongings
	}{
		{"all foreign", aliceHas},
		{"a foreign session", belongings{aliceHas.session, nothing.run, aliceHas.snapshot}},
		{"a foreign run in a session of its own", belongings{bobHas.session, aliceHas.run, aliceHas.snapshot}},
		{"a run of its own in a foreign session", belongings{aliceHas.session, bobHas.run, aliceHas.snapshot}},
	}
	for _, m := range methods() {
		named := fieldsOf(m.Input())
		if named == 0 {
			if !slices.Contains(withoutIDs, string(m.Name())) {
				t.Errorf("%s has no id that this test knows: say in withoutIDs that it names nothing, or teach it the field", m.Name())
			}
			continue
		}
		t.Run(string(m.Name()), func(t *testing.T) {
			want := call(t, wire, p.url(), m, credentials, asking(t, m, nothing))
			if code := want.code(); code != "not_found" {
				t.Fatalf("what is not there: %s, want not_found", want)
			}
			if !strings.Contains(string(want.body), "sandbox.v2.ErrorDetail") {
				t.Errorf("the error has no detail: %s", want)
			}
			for _, f := range foreign {
				if f.has.session == bobHas.session && named&hasRun == 0 {
					continue // it is no foreign one
				}
				got := call(t, wire, p.url(), m, credentials, asking(t, m, f.has))
				wanted := want
				if f.has.session == bobHas.session {
					wanted = call(t, wire, p.url(), m, credentials, asking(t, m, belongings{bobHas.session, nothing.run, nothing.snapshot}))
				}
				sameAnswer(t, f.name, got, wanted)
			}
		})
	}
	stillThere(t, alice, aliceRun)
}

// sameAnswer wants two answers that nobody can tell apart.
func sameAnswer(t *testing.T, what string, got, want *answer) {
	t.Helper()
	delete(got.header, "Date")
	delete(want.header, "Date")
	if got.status != want.status || !bytes.Equal(got.body, want.body) || len(got.header) != len(want.header) {
		t.Errorf("%s: %s %v, want what an unknown id gets: %s %v", what, got, got.header, want, want.header)
	}
	for k := range want.header {
		if !slices.Equal(got.header[k], want.header[k]) {
			t.Errorf("%s: header %s is %q, want %q", what, k, got.header[k], want.header[k])
		}
	}
}

// tenant opens what a principal can have.
func tenant(t *testing.T, url, token string) (*engine.Session, *engine.Process, belongings) {
	t.Helper()
	c := client(t, url, &remote.ClientOptions{Token: token})
	s, err := c.Open(t.Context(), &remote.SessionOptions{Backend: "userns"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.PutBytes(t.Context(), "kept", []byte("mine"), nil); err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), "read line; echo $line", &engine.RunOptions{Type: engine.Shell, StdinPipe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Kill)
	snap, err := c.RPC().Snapshot(t.Context(), connectRequest(&sandboxv2.SnapshotRequest{SessionId: s.ID()}))
	if err != nil {
		t.Fatal(err)
	}
	// The id of the run is the server's; that of the Process is this side's.
	var run string
	until(t, "the run is listed", func() bool {
		runs, err := c.RPC().ListRuns(t.Context(), connectRequest(&sandboxv2.ListRunsRequest{SessionId: s.ID()}))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs.Msg.GetRuns() {
			run = r.GetRunId()
		}
		return run != ""
	})
	return s, r, belongings{s.ID(), run, snap.Msg.GetSnapshot().GetSnapshotId()}
}

// stillThere wants what a principal has to be as it was.
func stillThere(t *testing.T, s *engine.Session, r *engine.Process) {
	t.Helper()
	if data, err := s.GetBytes(t.Context(), "kept", 100); err != nil || string(data) != "mine" {
		t.Errorf("the file of the other principal: %q, %v", data, err)
	}
	out, err := r.Communicate(t.Context(), []byte("still\n"))
	if err != nil || string(out.Stdout) != "still\n" {
		t.Errorf("the run of the other principal: %v, %v", out, err)
	}
}

// The ids that a message can name, as bits.
const (
	hasSession = 1 << iota
	hasRun
	hasSnapshot
)

// fieldsOf tells which ids a request names, in itself or in the message that begins a stream.
func fieldsOf(d protoreflect.MessageDescriptor) (named int) {
	for i := range d.Fields().Len() {
		switch f := d.Fields().Get(i); {
		case f.Name() == "session_id":
			named |= hasSession
		case f.Name() == "run_id":
			named |= hasRun
		case f.Name() == "snapshot_id":
			named |= hasSnapshot
		case f.ContainingOneof() != nil && f.Message() != nil:
			named |= fieldsOf(f.Message())
		}
	}
	return named
}

// asking is the request of a call that names what somebody has.
func asking(t *testing.T, m protoreflect.MethodDescriptor, has belongings) []byte {
	t.Helper()
	return marshal(t, naming(dynamicpb.NewMessage(m.Input()), has))
}

func naming(m *dynamicpb.Message, has belongings) proto.Message {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		switch f := fields.Get(i); {
		case f.Name() == "session_id":
			m.Set(f, protoreflect.ValueOfString(has.session))
		case f.Name() == "run_id":
			m.Set(f, protoreflect.ValueOfString(has.run))
		case f.Name() == "snapshot_id":
			m.Set(f, protoreflect.ValueOfString(has.snapshot))
		case f.ContainingOneof() != nil && f.Message() != nil && fieldsOf(f.Message()) != 0:
			inner := dynamicpb.NewMessage(f.Message())
			naming(inner, has)
			m.Set(f, protoreflect.ValueOfMessage(inner))
		}
	}
	return m
}

// TestCredentials makes every call without good credentials: cases C148. The answer comes while the body does not.
func TestCredentials(t *testing.T) {
	file, tokens := tokenFile(t, "alice")
	p := launch(t, setup{Tokens: file})
	token := tokens[0]
	for _, m := range methods() {
		if m.Name() == "Health" {
			continue // needs none
		}
		t.Run(string(m.Name()), func(t *testing.T) {
			for name, value := range map[string]string{
				"none": "", "empty": "Bearer ", "truncated": "Bearer " + token[:len(token)-1], "longer": "Bearer " + token + "x",
				"another scheme": "Basic " + token, "no scheme": token, "unknown": "Bearer sbr_" + strings.Repeat("A", 32),
			} {
				a := withoutBody(t, p.url(), m, value)
				if code := a.code(); code != "unauthenticated" {
					t.Errorf("%s: %s, want unauthenticated", name, a)
				}
				if strings.Contains(string(a.body), token[:len(token)-1]) {
					t.Errorf("%s: the token is in the answer", name)
				}
			}
			if !isStream(m) {
				overHTTP1(t, p.url(), m)
			}
		})
	}
}

// withoutBody makes a call whose body never comes.
func withoutBody(t *testing.T, url string, m protoreflect.MethodDescriptor, authorization string) *answer {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	time.AfterFunc(patience, func() { w.CloseWithError(http.ErrHandlerTimeout) }) // a server that waits for the body fails the test
	req := request{path: pathOf(m), kind: "application/proto", header: map[string]string{"Authorization": authorization}, body: r}
	if authorization == "" {
		req.header = nil
	}
	if isStream(m) {
		req.kind = "application/connect+proto"
	}
	a, err := do(t, h2c(t), url, req)
	if err != nil {
		t.Fatalf("Authorization %q: no answer without a body: %v", authorization, err)
	}
	return a
}

// overHTTP1 does the same with a length that is announced, of a body that the server would read to keep the connection.
func overHTTP1(t *testing.T, url string, m protoreflect.MethodDescriptor) {
	t.Helper()
	conn := dial(t, url)
	if _, err := io.WriteString(conn, head(pathOf(m), "application/proto", "Content-Length: 1000")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	n, err := conn.Read(buf)
	if err != nil || !strings.HasPrefix(string(buf[:n]), "HTTP/1.1 401 ") {
		t.Errorf("over HTTP/1.1, without a body: %q, %v, want 401", buf[:n], err)
	}
}
