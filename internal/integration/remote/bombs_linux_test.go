package remote

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// bomb is a gigabyte of zeros, compressed: members of a gzip file may follow each other.
var bomb = sync.OnceValues(func() ([]byte, error) {
	var member bytes.Buffer
	w := gzip.NewWriter(&member)
	if _, err := w.Write(make([]byte, 16<<20)); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return bytes.Repeat(member.Bytes(), 64), nil
})

// bombRoom is what a server may take for a bomb, in bytes: some times the largest message, which is that of a run.
const bombRoom = 400 << 20

// TestBombs sends a gigabyte that is small on the way: cases C143.
func TestBombs(t *testing.T) {
	data, err := bomb()
	if err != nil {
		t.Fatal(err)
	}
	p := launch(t, setup{})
	wire := h2c(t)
	for _, tt := range []struct {
		name, kind string
		header     map[string]string
		method     string
		body       []byte
		room       int64
	}{
		{"connect", "application/proto", map[string]string{"Content-Encoding": "gzip"}, "StatFile", data, 64 << 20},
		{"connect, a large call", "application/proto", map[string]string{"Content-Encoding": "gzip"}, "PutBytes", data, 200 << 20},
		{"connect, json", "application/json", map[string]string{"Content-Encoding": "gzip"}, "PutBytes", data, 200 << 20},
		{"connect, stream", "application/connect+proto", map[string]string{"Connect-Content-Encoding": "gzip"}, "PutFile", envelope(flagCompressed, data), 64 << 20},
		{"connect, run", "application/connect+proto", map[string]string{"Connect-Content-Encoding": "gzip"}, "Run", envelope(flagCompressed, data), bombRoom},
		{"grpc", "application/grpc", map[string]string{"Grpc-Encoding": "gzip"}, "StatFile", envelope(flagCompressed, data), 64 << 20},
		{"grpc, run", "application/grpc", map[string]string{"Grpc-Encoding": "gzip"}, "Run", envelope(flagCompressed, data), bombRoom},
		{"grpc-web", "application/grpc-web", map[string]string{"Grpc-Encoding": "gzip"}, "PutFile", envelope(flagCompressed, data), 64 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			forget(t, p.pid())
			before := memory(t, p.pid(), "VmRSS")
			a, err := do(t, wire, p.url(), request{path: pathTo(tt.method), kind: tt.kind, header: tt.header, body: bytes.NewReader(tt.body)})
			if err != nil {
				t.Fatal(err)
			}
			if code := a.code(); code != "resource_exhausted" && code != "grpc 8" && !strings.Contains(string(a.body), "grpc-status: 8") {
				t.Errorf("%s %v, want that it is too large", a, a.header)
			}
			if took := memory(t, p.pid(), "VmHWM") - before; took > tt.room {
				t.Errorf("the server took %d MiB, want at most %d", took>>20, tt.room>>20)
			}
		})
	}
}

// TestTooLarge announces, or begins, messages that are too large: cases C143. The answer comes before their end.
func TestTooLarge(t *testing.T) {
	p := launch(t, setup{})
	for _, tt := range []struct {
		name, method, kind string
		first              []byte
		rest               int // more bytes that are sent, of many more that were announced
	}{
		{"a length of 4 GiB", "Run", "application/connect+proto", []byte{0, 0xff, 0xff, 0xff, 0xff}, 0},
		{"a length of 5 MiB in a file", "PutFile", "application/connect+proto", []byte{0, 0, 0x50, 0, 0}, 0},
		{"grpc", "PutFile", "application/grpc", []byte{0, 0xff, 0xff, 0xff, 0xff}, 0},
		{"a file in one message", "PutBytes", "application/proto", nil, 40 << 20},
		{"a path", "StatFile", "application/proto", nil, 6 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w := io.Pipe()
			t.Cleanup(func() { w.Close() })
			go func() {
				if _, err := w.Write(tt.first); err == nil {
					_, _ = w.Write(make([]byte, tt.rest)) // and no end
				}
			}()
			a, err := do(t, h2c(t), p.url(), request{path: pathTo(tt.method), kind: tt.kind, body: r})
			if err != nil {
				t.Fatalf("no answer before the end of the upload: %v", err)
			}
			if code := a.code(); code != "resource_exhausted" && code != "grpc 8" {
				t.Errorf("%s %v, want that it is too large", a, a.header)
			}
			if text := string(a.body) + fmt.Sprint(a.header); !strings.Contains(text, "max") {
				t.Errorf("%s: the limit is not named", text)
			}
		})
	}
}
