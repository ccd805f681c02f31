package server

import (
	"bytes"
	"compress/gzip"
	"context"
	crand "crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// Every protocol and every connection runs a script.
func TestHandler_Protocols(t *testing.T) {
	s := launch(t, wasmHost{}, nil)
	handler, err := s.Handler(nil)
	if err != nil {
		t.Fatal(err)
	}
	cert := httptest.NewUnstartedServer(nil)
	cert.StartTLS() // for its certificate
	defer cert.Close()
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := NewHTTP(handler, nil)
	web.TLSConfig = &tls.Config{Certificates: cert.TLS.Certificates}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.ServeTLS(l, "", "") // it is closed
	}()
	defer func() {
		web.Close()
		<-done
	}()
	roots := cert.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for name, protocol := range map[string]connect.ClientOption{
		"connect": connect.WithClientOptions(), "json": connect.WithProtoJSON(), "grpc": connect.WithGRPC(), "grpc-web": connect.WithGRPCWeb(),
	} {
		for _, secure := range []bool{false, true} {
			for _, two := range []bool{false, true} {
				if name == "grpc" && !two {
					continue // it has trailers, and needs HTTP/2
				}
				var protocols http.Protocols
				protocols.SetHTTP1(!two)
				protocols.SetHTTP2(two && secure)
				protocols.SetUnencryptedHTTP2(two && !secure)
				at := *s
				if secure {
					at.url = "https://" + l.Addr().String()
				}
				c := at.clientOver(t, &http.Transport{Protocols: &protocols, TLSClientConfig: &tls.Config{RootCAs: roots}}, "a", protocol)
				id := openOne(t, c)
				out := runScript(t, c, &sandboxv2.RunRequest{SessionId: id, Script: "print(6*7)"})
				if out.text() != "42\n" || out.result.GetExitCode() != 0 {
					t.Errorf("%s, TLS %v, HTTP/2 %v: %q, %v", name, secure, two, out.text(), out.result)
				}
				must(t, c.CloseSession, &sandboxv2.CloseSessionRequest{SessionId: id})
			}
		}
	}
}

// postTo sends a body and gives the code of Connect's answer.
func postTo(t *testing.T, s *testServer, procedure string, header http.Header, body io.Reader) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+procedure, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	if _, ok := header["X-Name"]; !ok {
		req.Header.Set("X-Name", "a")
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	got, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(got)
}

// A message that is too large is refused, as it is and when it unpacks to that. What fits is not.
func TestHandler_ReadLimits(t *testing.T) {
	s := launch(t, wasmHost{}, nil)
	for _, test := range []struct {
		procedure string
		size      int
		ok        bool
	}{
		{sandboxv2connect.SandboxServiceGetSessionProcedure, maxMessage - 100, true},
		{sandboxv2connect.SandboxServiceGetSessionProcedure, maxMessage + 1, false},
		{sandboxv2connect.SandboxServiceGetSessionProcedure, 8 * maxMessage, false},
		{sandboxv2connect.SandboxServicePutBytesProcedure, maxUnary + 1000, true},
		{sandboxv2connect.SandboxServicePutBytesProcedure, maxFileMessage + 1, false},
	} {
		body := `{"session_id":"` + strings.Repeat("0", test.size-len(`{"session_id":""}`)) + `"}`
		for _, packed := range []bool{false, true} {
			header := http.Header{"Content-Type": {"application/json"}}
			var r io.Reader = strings.NewReader(body)
			if packed {
				header.Set("Content-Encoding", "gzip")
				var small bytes.Buffer
				z := gzip.NewWriter(&small)
				if _, err := io.WriteString(z, body); err != nil || z.Close() != nil {
					t.Fatal(err)
				}
				r = &small
			}
			status, text := postTo(t, s, test.procedure, header, r)
			if refused := strings.Contains(text, "resource_exhausted"); refused == test.ok {
				t.Errorf("%s of %d bytes, compressed %v: %d %.200s", test.procedure, test.size, packed, status, text)
			}
		}
	}
}

// Health checks need no credentials, reflection does.
func TestHandler_HealthAndReflection(t *testing.T) {
	s := launch(t, wasmHost{}, nil)
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	defer transport.CloseIdleConnections()
	check := func(service, want string) {
		t.Helper()
		if _, text := postTo(t, s, "/grpc.health.v1.Health/Check", http.Header{"Content-Type": {"application/json"}, "X-Name": nil}, strings.NewReader(`{"service":"`+service+`"}`)); !strings.Contains(text, want) {
			t.Errorf("check of %q: %s, want %s", service, text, want)
		}
	}
	check("", "STATUS_SERVING")
	check(sandboxv2connect.SandboxServiceName, "STATUS_SERVING")
	check("other", "not_found")
	reflect := func(name string) error {
		c := connect.NewClient[sandboxv2.HealthRequest, sandboxv2.HealthResponse](&http.Client{Transport: named{transport, name}}, s.url+"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", connect.WithGRPC())
		stream := c.CallBidiStream(t.Context())
		defer stream.CloseResponse()
		_ = stream.CloseRequest()
		_, err := stream.Receive()
		return err
	}
	if err := reflect(""); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("reflection without credentials: %v", err)
	}
	if err := reflect("a"); !errors.Is(err, io.EOF) {
		t.Errorf("reflection with credentials: %v, want the end of the stream", err)
	}
	nobody, somebody := s.client(t, ""), s.client(t, "a")
	if m := must(t, nobody.Health, &sandboxv2.HealthRequest{}); m.GetDefaultBackend() != "" || len(m.GetBackends()) != 0 || m.GetDraining() {
		t.Errorf("who has no credentials learns %v", m)
	}
	if m := must(t, somebody.Health, &sandboxv2.HealthRequest{}); m.GetDefaultBackend() != "wasm" {
		t.Errorf("who has credentials learns %v", m)
	}
	id := openOne(t, somebody)
	if err := s.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	check("", "STATUS_NOT_SERVING")
	if !must(t, nobody.Health, &sandboxv2.HealthRequest{}).GetDraining() {
		t.Error("it does not say that it drains")
	}
	must(t, somebody.PutBytes, &sandboxv2.PutBytesRequest{SessionId: id, Path: "f"}) // what is there goes on
}

// deadlineWriter notes the deadlines that are set.
type deadlineWriter struct {
	http.ResponseWriter
	read []time.Time
}

func (w *deadlineWriter) SetReadDeadline(d time.Time) error {
	w.read = append(w.read, d)
	return nil
}

// A request's body has a deadline for each read, and none after its end; once it is cut, that stays.
func TestBoundBody(t *testing.T) {
	for path, each := range map[string]bool{
		sandboxv2connect.SandboxServiceRunProcedure:         false,
		sandboxv2connect.SandboxServicePutFileProcedure:     true,
		sandboxv2connect.SandboxServicePutSnapshotProcedure: true,
	} {
		w := &deadlineWriter{ResponseWriter: httptest.NewRecorder()}
		s := &Server{opts: Options{Backends: []string{"b"}}.filled()}
		h := withResponse(s.boundBody(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			buf := make([]byte, 1)
			for range 2 {
				if n, err := r.Body.Read(buf); n != 1 || err != nil {
					t.Error(n, err)
				}
				time.Sleep(2 * time.Millisecond)
			}
			if n := len(w.read); n != 2 || w.read[1].After(w.read[0]) != each || time.Until(w.read[0]) < time.Minute {
				t.Errorf("%s: deadlines %v, one for each read: %v", path, w.read, each)
			}
			if _, err := io.ReadAll(r.Body); err != nil || !w.read[len(w.read)-1].IsZero() {
				t.Errorf("%s: after the end the deadline is %v", path, w.read[len(w.read)-1])
			}
			cutBody(r.Context())
			n := len(w.read)
			if _, err := r.Body.Read(buf); err == nil || len(w.read) != n {
				t.Errorf("%s: it can be read after the cut: %v", path, err)
			}
		})))
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, io.NopCloser(strings.NewReader("abcdef"))))
	}
}

// A session whose client does not read the file that it has asked for can be closed all the same.
func TestServer_CloseWhileClientDoesNotRead(t *testing.T) {
	s := launch(t, wasmHost{}, nil)
	c := s.client(t, "a")
	id := openOne(t, c)
	put := c.PutFile(t.Context())
	if err := put.Send(&sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Header{Header: &sandboxv2.PutFileHeader{SessionId: id, Path: "f"}}}); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 1<<20)
	crand.Read(data) // what cannot be compressed
	for range 32 {
		if err := put.Send(&sandboxv2.PutFileRequest{Part: &sandboxv2.PutFileRequest_Data{Data: data}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := put.CloseAndReceive(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := c.GetFile(ctx, connect.NewRequest(&sandboxv2.GetFileRequest{SessionId: id, Path: "f"}))
	if err != nil || !stream.Receive() {
		t.Fatal(err)
	}
	defer stream.Close()
	time.Sleep(500 * time.Millisecond) // the server's messages fill the window
	must(t, c.CloseSession, &sandboxv2.CloseSessionRequest{SessionId: id})
}

func TestLoopback(t *testing.T) {
	for addr, want := range map[string]bool{"127.0.0.1": true, "::1": true, "0.0.0.0": false, "::": false, "10.1.2.3": false} {
		if got := Loopback(addrListener{addr: &net.TCPAddr{IP: net.ParseIP(addr)}}); got != want {
			t.Errorf("Loopback(%s) = %v, want %v", addr, got, want)
		}
	}
}

type addrListener struct {
	net.Listener
	addr net.Addr
}

func (l addrListener) Addr() net.Addr { return l.addr }
