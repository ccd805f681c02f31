package remote

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// patience bounds what a test waits for. It says nothing about how quick a server is: what waits for it to end has failed.
const patience = 30 * time.Second

// The flags of a message in a stream.
const (
	flagCompressed = 1
	flagEnd        = 2
)

// methods are all calls of the service.
func methods() []protoreflect.MethodDescriptor {
	list := sandboxv2.File_sandbox_v2_sandbox_proto.Services().ByName("SandboxService").Methods()
	var all []protoreflect.MethodDescriptor
	for i := range list.Len() {
		all = append(all, list.Get(i))
	}
	return all
}

func pathOf(m protoreflect.MethodDescriptor) string { return pathTo(string(m.Name())) }

func pathTo(name string) string { return "/" + sandboxv2connect.SandboxServiceName + "/" + name }

func isStream(m protoreflect.MethodDescriptor) bool {
	return m.IsStreamingClient() || m.IsStreamingServer()
}

// envelope is a message of a stream.
func envelope(flags byte, data []byte) []byte {
	out := binary.BigEndian.AppendUint32([]byte{flags}, uint32(len(data)))
	return append(out, data...)
}

func marshal(tb testing.TB, m proto.Message) []byte {
	tb.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// An answer is what a server says to a call.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// code is that of the error in an answer of Connect's protocol, or of gRPC's.
func (a *answer) code() string {
	if s := a.header.Get("Grpc-Status"); s != "" {
		return "grpc " + s
	}
	body := a.body
	for len(body) >= 5 && a.header.Get("Content-Type") != "application/json" {
		n := min(int(binary.BigEndian.Uint32(body[1:5])), len(body)-5)
		if body[0]&flagEnd != 0 {
			var end struct{ Error json.RawMessage }
			if json.Unmarshal(body[5:5+n], &end) != nil {
				return "an end that is no JSON"
			}
			if end.Error == nil {
				return ""
			}
			body = end.Error
			break
		}
		body = body[5+n:]
	}
	var e struct{ Code string }
	if json.Unmarshal(body, &e) != nil || e.Code == "" {
		return fmt.Sprintf("http %d", a.status)
	}
	return e.Code
}

// message is the text of the error.
func (a *answer) String() string { return fmt.Sprintf("%d %.600q", a.status, a.body) }

// h2c makes a transport of HTTP/2 without TLS, with connections of its own.
func h2c(tb testing.TB) *http.Transport {
	tb.Helper()
	var p http.Protocols
	p.SetUnencryptedHTTP2(true)
	t := &http.Transport{Protocols: &p, DisableCompression: true}
	tb.Cleanup(t.CloseIdleConnections)
	return t
}

// A request is a call as bytes.
type request struct {
	method, path, kind string // empty method: POST; kind is the content type
	header             map[string]string
	body               io.Reader
}

// do sends a request and reads the answer to its end.
func do(tb testing.TB, t http.RoundTripper, url string, r request) (*answer, error) {
	tb.Helper()
	if r.method == "" {
		r.method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(tb.Context(), r.method, url+r.path, r.body)
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Content-Type", r.kind)
	for k, v := range r.header {
		req.Header.Set(k, v)
	}
	ended := time.AfterFunc(patience, func() { t.(interface{ CloseIdleConnections() }).CloseIdleConnections() })
	defer ended.Stop()
	resp, err := t.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return nil, err
	}
	maps.Copy(resp.Header, resp.Trailer)
	return &answer{resp.StatusCode, resp.Header, body}, nil
}

// call makes a call of Connect's protocol with messages as bytes.
func call(tb testing.TB, t http.RoundTripper, url string, m protoreflect.MethodDescriptor, header map[string]string, message []byte) *answer {
	tb.Helper()
	r := request{path: pathOf(m), kind: "application/proto", header: header, body: bytes.NewReader(message)}
	if isStream(m) {
		r.kind, r.body = "application/connect+proto", bytes.NewReader(envelope(0, message))
	}
	a, err := do(tb, t, url, r)
	if err != nil {
		tb.Fatalf("%s: %v", m.Name(), err)
	}
	return a
}

// dial connects to a server's port. Reads end with patience.
func dial(tb testing.TB, url string) net.Conn {
	tb.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		tb.Fatal(err)
	}
	return conn
}

// head is the head of a request of HTTP/1.1.
func head(path, kind string, more ...string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: " + kind + "\r\n" + strings.Join(append(more, "\r\n"), "\r\n")
}

// until waits for something to become true.
func until(tb testing.TB, what string, f func() bool) {
	tb.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("it has not come to that: %s", what)
		}
	}
}

// isTimeout reports whether a test has waited in vain.
func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// untilLong is until for what waits for keep-alives: pings after 15 s and 10 s, TCP's after half a minute, and a heartbeat before.
func untilLong(tb testing.TB, what string, f func() bool) {
	tb.Helper()
	for end := time.Now().Add(2 * patience); !f(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("it has not come to that: %s", what)
		}
	}
}
