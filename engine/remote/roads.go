package remote

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// roads are the two ways to the server.
//
// Calls that are frequent or move much go by HTTP/1.1: a call costs a third of what it does by HTTP/2, a file moves at twice the speed,
// and what one run has not read holds up no other one. The answer is soon there, or says itself that it goes on, so that
// a server that is gone is noticed by its silence. The others go by HTTP/2: RunInteractive needs it, and calls that may take long
// are watched over by its pings.
type roads struct {
	short, long *http.Transport
}

// shortCalls go by HTTP/1.1.
var shortCalls = map[string]bool{
	sandboxv2connect.SandboxServiceRunProcedure:          true,
	sandboxv2connect.SandboxServicePutFileProcedure:      true,
	sandboxv2connect.SandboxServicePutBytesProcedure:     true,
	sandboxv2connect.SandboxServiceGetFileProcedure:      true,
	sandboxv2connect.SandboxServiceStatFileProcedure:     true,
	sandboxv2connect.SandboxServiceListFilesProcedure:    true,
	sandboxv2connect.SandboxServiceRenewSessionProcedure: true,
	sandboxv2connect.SandboxServiceSignalRunProcedure:    true,
	sandboxv2connect.SandboxServiceResizeRunProcedure:    true,
}

const (
	dialTime   = 10 * time.Second
	idleTime   = 90 * time.Second // less than the server's
	idleConns  = 256
	bufferSize = 64 << 10
	streamRoom = 1 << 20
	maxFrame   = 256 << 10
)

func newRoads(secure bool, all *conns, alive time.Duration, config *tls.Config) *roads {
	var one, two http.Protocols
	one.SetHTTP1(true)
	two.SetHTTP2(secure)
	two.SetUnencryptedHTTP2(!secure)
	short, long := transport(&one, all, config), transport(&two, all, config)
	short.MaxIdleConnsPerHost, short.WriteBufferSize, short.ReadBufferSize = idleConns, bufferSize, bufferSize
	long.HTTP2 = &http.HTTP2Config{
		MaxReceiveBufferPerStream: streamRoom,
		MaxReadFrameSize:          maxFrame,
		SendPingTimeout:           alive,
		PingTimeout:               alive / 2,
		WriteByteTimeout:          alive + alive/2,
	}
	return &roads{short: short, long: long}
}

// dialer makes connections to the target. The kernel closes one whose other machine does not answer any more.
func (t *target) dialer(alive time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{
		Timeout:         dialTime,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: alive, Interval: max(alive/4, time.Second), Count: 2},
	}
	d.SetMultipathTCP(false)
	if t.socket == "" {
		return d.DialContext
	}
	return func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "unix", t.socket) }
}

func transport(protocols *http.Protocols, all *conns, config *tls.Config) *http.Transport {
	out := &http.Transport{
		Protocols:           protocols,
		DialContext:         all.connect,
		DisableCompression:  true,
		IdleConnTimeout:     idleTime,
		TLSHandshakeTimeout: dialTime,
	}
	if config != nil {
		out.TLSClientConfig = config.Clone() // the two would put different protocols into it
	}
	return out
}

// Do implements connect.HTTPClient. It is no http.Client: nothing is redirected, and no cookies are kept.
func (r *roads) Do(req *http.Request) (*http.Response, error) {
	if shortCalls[procedureOf(req.URL.Path)] {
		return r.short.RoundTrip(req)
	}
	return r.long.RoundTrip(req)
}

func (r *roads) close() {
	r.short.CloseIdleConnections()
	r.long.CloseIdleConnections()
}

// procedureOf is the end of a path: a server may have its service below another path.
func procedureOf(path string) string {
	slashes := 0
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			if slashes++; slashes == 2 {
				return path[i:]
			}
		}
	}
	return path
}
