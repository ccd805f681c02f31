package remote

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/engine/remote"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// drips are ways to send a request that never ends, by what comes at once. More follows, a byte at a time.
var drips = []struct {
	name, first, more string
	count             int
}{
	{"headers", "POST " + pathTo("Health") + " HTTP/1.1\r\nHost: 127.0.0.1\r\n", "X-Slow: 1\r\n", 100},
	{"no headers", "", "G", 20},
	{"preface", clientPreface[:10], "", 20},
	{"frames", clientPreface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" + "\x00\x40\x00\x01\x04\x00\x00\x00\x01", "\x00", 20},
	{"body", head(pathTo("StatFile"), "application/proto", "Content-Length: 1000"), "\x0a", 20},
	{"body of a refused call", head("/nothing", "application/proto", "Content-Length: 1000"), "x", 20},
	{"chunks", head(pathTo("StatFile"), "application/json", "Transfer-Encoding: chunked"), "1\r\n \r\n", 20},
	{"message of a stream", head(pathTo("Run"), "application/connect+proto", "Content-Length: 1000") + "\x00\x00\x00\x03\x00", "x", 20},
	{"file", head(pathTo("PutFile"), "application/connect+proto", "Content-Length: 1000") + "\x00\x00\x00\x03\x00", "", 20},
}

// TestSlow has clients that send next to nothing: cases C154. They are cut off, and the others do not notice.
func TestSlow(t *testing.T) {
	t.Parallel()
	p := launch(t, setup{Options: times{Header: 2 * time.Second, Message: 2 * time.Second, Silence: 2 * time.Second, Ping: 2 * time.Second}})
	s := open(t, p.url(), &remote.Options{SessionOptions: remote.SessionOptions{Backend: "userns"}})
	r, err := s.Run(t.Context(), "sleep 12; echo ok", &engine.RunOptions{Type: engine.Shell}) // longer than all of the server's times
	if err != nil {
		t.Fatal(err)
	}
	health := client(t, p.url(), nil).RPC()
	t.Run("cut", func(t *testing.T) {
		for _, d := range drips {
			t.Run(d.name, func(t *testing.T) {
				t.Parallel()
				var conns []net.Conn
				for range d.count {
					conns = append(conns, dial(t, p.url()))
				}
				for _, c := range conns {
					if _, err := io.WriteString(c, d.first); err != nil {
						t.Fatal(err)
					}
					drip(c, d.more)
				}
				for i, c := range conns {
					if err := cut(c); err != nil {
						t.Fatalf("connection %d (%s) is not cut: %v", i, d.name, err)
					}
					if _, err := health.Health(t.Context(), connectRequest(&sandboxv2.HealthRequest{})); err != nil {
						t.Fatalf("health meanwhile: %v", err)
					}
				}
			})
		}
	})
	line, _ := bufio.NewReader(r.Stdout()).ReadString('\n')
	if result, err := r.Wait(t.Context()); err != nil || line != "ok\n" {
		t.Errorf("the quiet run meanwhile: %q, %v, %v", line, result, err)
	}
}

// drip sends something from time to time, until the connection is cut.
func drip(c net.Conn, more string) {
	if more == "" {
		return
	}
	go func() {
		for {
			if _, err := io.WriteString(c, more); err != nil {
				return
			}
			time.Sleep(300 * time.Millisecond)
		}
	}()
}

// cut waits for the end of a connection. Answers may come before.
func cut(c net.Conn) error {
	_, err := io.Copy(io.Discard, c)
	if isTimeout(err) {
		return err
	}
	return nil
}

// TestLargeHeaders: they are bounded too.
func TestLargeHeaders(t *testing.T) {
	p := launch(t, setup{})
	conn := dial(t, p.url())
	go func() {
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\n", pathTo("Health"))
		for range 1 << 20 { // a gigabyte, if it were all taken
			if _, err := io.WriteString(conn, "X-Large: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
				return
			}
		}
	}()
	got, err := io.ReadAll(conn)
	if isTimeout(err) || len(got) > 0 && !strings.HasPrefix(string(got), "HTTP/1.1 431 ") {
		t.Errorf("endless headers: %q, %v, want 431", got, err)
	}
}
