package enginetest

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

var networkTests = []test{
	{"a loopback of its own", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		for _, host := range []string{"127.0.0.1", "::1"} {
			if got := s.connect(t, session, host, 9, nil); !strings.Contains(got, "refused") {
				t.Errorf("%s: %q", host, got)
			}
		}
		if s.native.loopback == "" {
			return
		}
		if got := s.output(t, session, s.native.loopback, nil); got != "ok\n" {
			t.Errorf("output %q", got)
		}
	}},
	{"nothing else", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		port := s.greeter(t)
		if got := s.connect(t, session, "127.0.0.1", port, nil); !strings.Contains(got, "refused") {
			t.Errorf("the host's loopback: %q", got)
		}
		for _, host := range []string{"203.0.113.1", "2001:db8::1"} { // TEST-NET-3 (RFC 5737), documentation (RFC 3849)
			if got := s.connect(t, session, host, 80, nil); !strings.Contains(got, "unreachable") {
				t.Errorf("%s: %q", host, got)
			}
		}
	}},
	{"open", func(t *testing.T, s *suite) {
		if !s.caps.OpenNetwork {
			t.Skip("not to be had here")
		}
		session := s.open(t, &engine.Options{Network: netpolicy.Open})
		if got := session.Info().Network; got != netpolicy.Open {
			t.Errorf("Info says %s", got)
		}
		port := s.greeter(t)
		for range 2 {
			for _, mode := range []netpolicy.Mode{"", netpolicy.Open} {
				if got := s.connect(t, session, "127.0.0.1", port, &engine.RunOptions{Network: mode}); got != greeting {
					t.Errorf("a run with %q: %q", mode, got)
				}
			}
			// A run may have less than its session.
			if got := s.connect(t, session, "127.0.0.1", port, &engine.RunOptions{Network: netpolicy.Blocked}); !strings.Contains(got, "refused") {
				t.Errorf("a run that is blocked: %q", got)
			}
		}
	}},
}

// ceilingTests hold in every tier.
var ceilingTests = []test{
	{"a run has no more than its session", func(t *testing.T, s *suite) {
		session := s.open(t, nil)
		if got := session.Info().Network; got != netpolicy.Blocked {
			t.Errorf("Info says %s", got)
		}
		_, err := session.Run(within(t), s.scripts.hello, s.options(&engine.RunOptions{Network: netpolicy.Open}))
		wantField(t, err, "Network")
		_, err = session.Run(within(t), s.scripts.hello, s.options(&engine.RunOptions{Network: "odd"}))
		wantField(t, err, "Network")
		s.output(t, session, s.scripts.hello, &engine.RunOptions{Network: netpolicy.Blocked})
	}},
}

const greeting = "greetings from the host\n"

// greeter listens on the host's loopback, and tells each who connects.
func (s *suite) greeter(t *testing.T) (port int) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(greeting))
			c.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// connect has a run connect, and returns what it got, or the error's text.
func (s *suite) connect(t *testing.T, session *engine.Session, host string, port int, opts *engine.RunOptions) string {
	t.Helper()
	out := s.exec(t, session, fmt.Sprintf(s.native.connectf, host, port), opts)
	if string(out.Stdout) == "no bash\n" {
		t.Skip("this host's shell cannot connect")
	}
	return string(out.Stdout)
}
