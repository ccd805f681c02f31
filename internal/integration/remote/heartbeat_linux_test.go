package remote

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// TestHeartbeat looks at what comes over the network in a silent run: cases C157. Something does in each second.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	p := launch(t, setup{})
	s := open(t, p.url(), nil)
	for name, messages := range map[string]func(*testing.T, net.Conn, []byte) io.Reader{"http1": messagesHTTP1, "http2": messagesHTTP2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := shellRun(s.ID(), "sleep 5; echo ok")
			m.Heartbeat = durationpb.New(time.Second)
			r := messages(t, dial(t, p.url()), envelope(0, marshal(t, m)))
			beats, before := 0, true
			for {
				ev := nextEvent(t, r)
				if ev == nil {
					break
				}
				if len(ev.GetStdout()) > 0 {
					before = false
				}
				if before && proto.Equal(ev, &sandboxv2.RunEvent{}) {
					beats++
				}
			}
			if before || beats < 2 {
				t.Errorf("%d heartbeats, and the output has come: %v; want some in five seconds, and the output", beats, !before)
			}
		})
	}
}

// nextEvent reads a message of Run's stream; nil is its end.
func nextEvent(t *testing.T, r io.Reader) *sandboxv2.RunEvent {
	t.Helper()
	var h [5]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, binary.BigEndian.Uint32(h[1:]))
	if _, err := io.ReadFull(r, data); err != nil {
		t.Fatal(err)
	}
	if h[0]&flagEnd != 0 {
		return nil
	}
	var m sandboxv2.RunResponse
	if err := proto.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m.GetEvent()
}

func messagesHTTP1(t *testing.T, conn net.Conn, body []byte) io.Reader {
	t.Helper()
	if _, err := fmt.Fprintf(conn, "%s%s", head(pathTo("Run"), "application/connect+proto", fmt.Sprintf("Content-Length: %d", len(body))), body); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp.Body
}

// messagesHTTP2 gives the content of the DATA frames alone: pings are no heartbeat that a proxy would hand on.
func messagesHTTP2(t *testing.T, conn net.Conn, body []byte) io.Reader {
	t.Helper()
	f := frames(t, conn)
	f.request(t, 1, "Run", "application/connect+proto", body)
	r, w := io.Pipe()
	t.Cleanup(func() { r.Close() })
	go func() {
		for {
			fr, err := f.next()
			if err != nil {
				w.CloseWithError(err)
				return
			}
			if fr.kind != frameData {
				continue
			}
			if _, err := w.Write(fr.data); err != nil {
				return
			}
		}
	}()
	return r
}
