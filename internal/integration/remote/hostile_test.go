package remote

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

const (
	protoStream = "application/connect+proto"
	protoUnary  = "application/proto"
	jsonUnary   = "application/json"
	jsonStream  = "application/connect+json"
)

// TestHostile sends what no client of ours would: each is refused, and the server goes on.
func TestHostile(t *testing.T) {
	p := launch(t, setup{})
	s := open(t, p.url(), nil)
	id := s.ID()
	long := strings.Repeat("a", 1<<20)
	enveloped := func(messages ...proto.Message) []byte {
		var out []byte
		for _, m := range messages {
			out = append(out, envelope(0, marshal(t, m))...)
		}
		return out
	}
	header := &sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Header{Header: &sandboxv2.PutFileHeader{SessionId: id, Path: "two"}}}
	data := &sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Data{Data: []byte("data")}}
	for _, tt := range []struct {
		name, method, kind string
		body               []byte
		want               string // any of these; "internal" is what package connect calls its protocol's faults
	}{
		{"unknown flags", "Run", protoStream, envelope(0x7c, nil), "invalid_argument internal"},
		{"an end from the client", "PutFile", protoStream, envelope(flagEnd, []byte("{}")), "invalid_argument internal"},
		{"compressed without a name of the compression", "Run", protoStream, envelope(flagCompressed, []byte("x")), "invalid_argument internal"},
		{"half a prefix", "Run", protoStream, []byte{0, 0, 0}, "internal"},
		{"a message that is cut", "Run", protoStream, []byte{0, 0, 0, 0, 9, 1}, "internal"},
		{"no message", "Run", protoStream, nil, "invalid_argument unimplemented"},
		{"two messages for one", "Run", protoStream, enveloped(shellRun(id, "echo"), shellRun(id, "echo")), "unimplemented invalid_argument"},
		{"truncated protobuf", "StatFile", protoUnary, []byte{0x0a, 0x7f, 'x'}, "invalid_argument"},
		{"protobuf of group ends", "StatFile", protoUnary, bytes.Repeat([]byte{0x0c}, 1000), "invalid_argument"},
		{"not UTF-8", "StatFile", protoUnary, []byte{0x0a, 2, 0xff, 0xfe}, "invalid_argument"},
		{"no JSON", "StatFile", jsonUnary, []byte(`{"sessionId":`), "invalid_argument"},
		{"deep JSON", "OpenSession", jsonUnary, []byte(strings.Repeat(`{"options":`, 100_000)), "invalid_argument"},
		{"text/plain", "OpenSession", "text/plain", []byte("{}"), "http 415"},
		{"a form", "OpenSession", "application/x-www-form-urlencoded", []byte("{}"), "http 415"},
		{"the unary type for a stream", "Run", protoUnary, marshal(t, shellRun(id, "echo")), "http 415"},
		{"the type of a stream for a unary call", "StatFile", protoStream, envelope(0, nil), "http 415"},
		{"no start", "RunInteractive", protoStream, enveloped(&sandboxv2.RunInteractiveRequest{Action: &sandboxv2.RunInteractiveRequest_Stdin{Stdin: []byte("x")}}), "invalid_argument"},
		{"an empty stream", "RunInteractive", protoStream, nil, "invalid_argument"},
		{"no header", "PutFile", protoStream, enveloped(data), "invalid_argument"},
		{"two headers", "PutFile", protoStream, enveloped(header, data, header, data), "invalid_argument"},
		{"a negative offset", "AttachRun", jsonStream, envelope(0, []byte(`{"sessionId":"`+id+`","runId":"x","stdoutOffset":-1}`)), "not_found"},
		{"a negative page size", "ListFiles", jsonUnary, []byte(`{"sessionId":"` + id + `","pageSize":-1}`), "invalid_argument"},
		{"a negative size", "GetBytes", jsonUnary, []byte(`{"sessionId":"` + id + `","path":"x","maxBytes":"-1"}`), "invalid_argument not_found"},
		{"an endless id", "GetSession", jsonUnary, []byte(`{"sessionId":"` + long + `"}`), "not_found"},
		{"an endless run id", "WaitRun", jsonUnary, []byte(`{"sessionId":"` + id + `","runId":"` + long + `"}`), "not_found"},
		{"an endless snapshot id", "OpenFrom", jsonUnary, []byte(`{"snapshotId":"` + long + `"}`), "not_found"},
		{"an endless label", "OpenSession", jsonUnary, []byte(`{"label":"` + long + `"}`), "invalid_argument"},
		{"an endless path", "StatFile", jsonUnary, []byte(`{"sessionId":"` + id + `","path":"` + long + `"}`), "invalid_argument not_found"},
		{"a NUL in a path", "StatFile", jsonUnary, []byte(`{"sessionId":"` + id + `","path":"a\u0000b"}`), "invalid_argument"},
		{"both kinds of a path", "StatFile", jsonUnary, []byte(`{"sessionId":"` + id + `","path":"a","pathRaw":"Yg=="}`), "invalid_argument"},
		{"mode bits", "PutBytes", jsonUnary, []byte(`{"sessionId":"` + id + `","path":"a","mode":4294967295}`), "invalid_argument"},
		{"an unknown tier", "OpenSession", jsonUnary, []byte(`{"options":{"pythonTier":77}}`), "invalid_argument"},
		{"no snapshot", "PutSnapshot", protoStream, enveloped(&sandboxv2.PutSnapshotRequest{Data: []byte(long)}), "invalid_argument failed_precondition"},
		{"a negative limit of a snapshot", "PutSnapshot", protoStream, enveloped(&sandboxv2.PutSnapshotRequest{LimitBytes: -1}), "invalid_argument"},
		{"a call that is not there", "Nothing", jsonUnary, []byte("{}"), "http 404"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := do(t, h2c(t), p.url(), request{path: pathTo(tt.method), kind: tt.kind, body: bytes.NewReader(tt.body)})
			if err != nil {
				t.Fatal(err)
			}
			code := a.code()
			known := false
			for want := range strings.SplitSeq(tt.want, " ") {
				known = known || want == code || tt.want == code
			}
			if !known {
				t.Errorf("%s: %s, want %s", code, a, tt.want)
			}
			if len(a.body) > 64<<10 {
				t.Errorf("the answer has %d bytes", len(a.body))
			}
		})
	}
	if _, err := s.Stat(t.Context(), "two"); err == nil {
		t.Error("a file with two headers is there")
	}
	if out, err := s.Exec(t.Context(), "print('fine')", nil); err != nil || string(out.Stdout) != "fine\n" {
		t.Errorf("a run after all that: %v, %v", out, err)
	}
}

// TestHostile_Offset: the run is there, and the offset is not.
func TestHostile_Offset(t *testing.T) {
	p := launch(t, setup{})
	c := client(t, p.url(), nil)
	s := open(t, p.url(), nil)
	req := &sandboxv2.RunRequest{SessionId: s.ID(), Script: "print(1)", Detach: true}
	stream, err := c.RPC().Run(t.Context(), connectRequest(req))
	if err != nil {
		t.Fatal(err)
	}
	var id string
	for stream.Receive() {
		id += stream.Msg().GetEvent().GetStarted().GetRunId()
	}
	for _, offsets := range [][2]int64{{-1, 0}, {0, -1}, {1 << 62, 0}, {3, 0}, {0, -1 << 63}} {
		stream, err := c.RPC().AttachRun(t.Context(), connectRequest(&sandboxv2.AttachRunRequest{
			SessionId: s.ID(), RunId: id, StdoutOffset: offsets[0], StderrOffset: offsets[1],
		}))
		if err != nil {
			t.Fatal(err)
		}
		if stream.Receive() || !strings.HasPrefix(stream.Err().Error(), "invalid_argument") {
			t.Errorf("offsets %v: %v, %v, want invalid_argument", offsets, stream.Msg(), stream.Err())
		}
	}
}

// TestRestOfBody: what is left of a refused request is not taken for another one.
func TestRestOfBody(t *testing.T) {
	file, _ := tokenFile(t, "alice")
	p := launch(t, setup{Tokens: file})
	conn := dial(t, p.url())
	second := head(pathTo("Health"), jsonUnary, "Content-Length: 2") + "{}"
	if _, err := io.WriteString(conn, head(pathTo("OpenSession"), jsonUnary, "Content-Length: 100000")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	n, err := conn.Read(buf)
	if err != nil || !strings.HasPrefix(string(buf[:n]), "HTTP/1.1 401 ") || !strings.Contains(string(buf[:n]), "Connection: close") {
		t.Fatalf("%q, %v, want 401 and that the connection is closed", buf[:n], err)
	}
	_, _ = io.WriteString(conn, second)
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(conn)
	if isTimeout(err) || strings.Contains(string(rest), "HTTP/1.1") {
		t.Errorf("after the answer: %q, %v, want the end", rest, err)
	}
}
