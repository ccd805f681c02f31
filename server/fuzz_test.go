package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// sessionMarker stands for the name of a session that is there, which is another one each time. It is as long.
const sessionMarker = "SESSION-SESSION-SESSION-AB"

// fuzzedProcedures are all of the service.
var fuzzedProcedures = func() (list []string) {
	methods := sandboxv2.File_sandbox_v2_sandbox_proto.Services().ByName("SandboxService").Methods()
	for i := range methods.Len() {
		list = append(list, "/"+sandboxv2connect.SandboxServiceName+"/"+string(methods.Get(i).Name()))
	}
	return list
}()

var fuzzedTypes = []string{
	"application/json", "application/proto", "application/connect+json", "application/connect+proto",
	"application/grpc", "application/grpc+json", "application/grpc-web+proto", "application/grpc-web-text", "text/html", "",
}

// fuzzPolicy lets runs be short and sessions few.
func fuzzPolicy() *Policy {
	p := DefaultPolicy()
	p.MaxTimeout, p.MaxSessions, p.MaxSnapshots, p.MaxRuns = 100*time.Millisecond, 8, 2, 2
	p.MaxIdle = time.Second
	return p
}

// envelope is a message of a stream.
func envelope(data []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(data))), data...)
}

// Whatever a body is, the handler answers with an error that says what is wrong with it, or does what it says. It does
// not fail itself.
func FuzzHandler(f *testing.F) {
	s := newServer(f, wasmHost{}, &Options{Authenticator: byName{fuzzPolicy()}})
	handler, err := s.Handler(nil)
	if err != nil {
		f.Fatal(err)
	}
	for i, m := range []proto.Message{
		&sandboxv2.RunRequest{SessionId: sessionMarker, Script: "print(1)", Args: []string{"a"}, Env: map[string]string{"A": "b"}},
		&sandboxv2.PutBytesRequest{SessionId: sessionMarker, Path: "a/b", Data: []byte("x"), Mode: 0o644},
		&sandboxv2.GetBytesRequest{SessionId: sessionMarker, PathRaw: []byte("../\xff")},
		&sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Header{Header: &sandboxv2.PutFileHeader{SessionId: sessionMarker, Path: "f"}}},
		&sandboxv2.PutSnapshotRequest{LimitBytes: 1, Data: []byte("sandbar snapshot 1\n")},
		&sandboxv2.OpenSessionRequest{Label: "x", Options: &sandboxv2.SessionOptions{Limits: &sandboxv2.Limits{MemoryBytes: -1}}},
		&sandboxv2.ListFilesRequest{SessionId: sessionMarker, PageSize: -1},
		&sandboxv2.AttachRunRequest{SessionId: sessionMarker, RunId: "x", StdoutOffset: -1},
	} {
		text, _ := protojson.Marshal(m)
		binary, _ := proto.Marshal(m)
		for j := range fuzzedProcedures {
			if j%7 == i%7 { // some of each
				f.Add(j, i%2*2, text)
				f.Add(j, 1, binary)
				f.Add(j, 3, envelope(binary))
				f.Add(j, 4+i%4, slices.Concat(envelope(binary), envelope(nil)))
			}
		}
	}
	f.Fuzz(func(t *testing.T, procedure, contentType int, body []byte) {
		se, err := s.open(as(t.Context(), "a"), &opening{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.takeSession(as(t.Context(), "a"), se.ID()) //nolint:errcheck // the call may have closed it
		body = bytes.ReplaceAll(body, []byte(sessionMarker), []byte(se.ID()))
		req := httptest.NewRequest(http.MethodPost, "http://localhost"+at(fuzzedProcedures, procedure), bytes.NewReader(body))
		req.Header.Set("Content-Type", at(fuzzedTypes, contentType))
		req.Header.Set("X-Name", "a")
		req.RemoteAddr, req.Host = "127.0.0.1:1", "127.0.0.1"
		req.ProtoMajor, req.ProtoMinor = 2, 0
		req = req.WithContext(t.Context())
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		if w.Code == http.StatusInternalServerError || strings.Contains(w.Body.String(), `"code":"internal"`) || w.Result().Trailer.Get("Grpc-Status") == "13" {
			t.Errorf("%s with %q: %d %s", req.URL.Path, req.Header.Get("Content-Type"), w.Code, w.Body)
		}
		for _, sn := range s.snapshots.list("a", false) {
			_ = s.removeSnapshot(sn.id, "a")
		}
		for _, other := range s.sessions.list("a", false) {
			_ = s.takeSession(as(t.Context(), "a"), other.ID())
		}
	})
}

// at is an element of a list, whatever i is.
func at(list []string, i int) string { return list[uint(i)%uint(len(list))] }

// A sequence of messages in any order ends the call with a result, or an error that says what is wrong with it.
func FuzzRunInteractive(f *testing.F) {
	s := launch(f, wasmHost{}, &Options{Authenticator: byName{fuzzPolicy()}})
	c := s.client(f, "a")
	f.Add([]byte{})
	f.Add([]byte{0})
	f.Add([]byte{1, 0})
	f.Add([]byte{0, 1, 1, 2})
	f.Add([]byte{0, 0, 1, 3, 4, 5, 6, 7, 8})
	f.Add([]byte{0, 2, 1, 2, 1})
	f.Add([]byte{0, 8, 1, 7})
	f.Fuzz(func(t *testing.T, actions []byte) {
		m, err := c.OpenSession(t.Context(), connect.NewRequest(&sandboxv2.OpenSessionRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		id := m.Msg.GetSession().GetSessionId()
		defer c.CloseSession(t.Context(), connect.NewRequest(&sandboxv2.CloseSessionRequest{SessionId: id}))
		stream := c.RunInteractive(t.Context())
		for _, a := range actions {
			if stream.Send(interactive(id, a)) != nil {
				break // the server has ended the call
			}
		}
		_ = stream.CloseRequest()
		o := &output{}
		for {
			var answer *sandboxv2.RunInteractiveResponse
			if answer, err = stream.Receive(); err != nil {
				break
			}
			o.add(t, answer.GetEvent())
		}
		_ = stream.CloseResponse()
		switch code := connect.CodeOf(wire.FromError(err)); {
		case errors.Is(err, io.EOF) && o.result != nil:
		case code == connect.CodeInvalidArgument && o.id == "":
		default:
			t.Errorf("%v: %v, %v", actions, o.result, err)
		}
	})
}

// interactive is a message for a byte.
func interactive(session string, a byte) *sandboxv2.RunInteractiveRequest {
	m := &sandboxv2.RunInteractiveRequest{}
	switch a % 9 {
	case 0:
		m.Action = &sandboxv2.RunInteractiveRequest_Start{Start: &sandboxv2.RunRequest{SessionId: session, Script: "import sys\nprint(len(sys.stdin.read()))", Detach: a > 127}}
	case 1:
		m.Action = &sandboxv2.RunInteractiveRequest_Stdin{Stdin: bytes.Repeat([]byte{a}, int(a)*100)}
	case 2:
		m.Action = &sandboxv2.RunInteractiveRequest_StdinEnd{StdinEnd: &sandboxv2.StdinEnd{}}
	case 3:
		m.Action = &sandboxv2.RunInteractiveRequest_StdinEnd{StdinEnd: &sandboxv2.StdinEnd{Error: "broken"}}
	case 4:
		m.Action = &sandboxv2.RunInteractiveRequest_StdinEnd{}
	case 5:
		m.Action = &sandboxv2.RunInteractiveRequest_Resize{Resize: &sandboxv2.TerminalSize{Rows: int32(a) - 100, Cols: -1}}
	case 6:
		m.Action = &sandboxv2.RunInteractiveRequest_Resize{}
	case 7:
		m.Action = &sandboxv2.RunInteractiveRequest_Signal{Signal: sandboxv2.Signal(int32(a) / 9)}
	}
	return m
}
