package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// What a connection may take. The figures of HTTP/2 are those of RFC 9113; a stream that nobody reads holds up no other one, since
// a connection has room for all its streams.
const (
	headerTime     = 10 * time.Second
	idleTime       = 3 * time.Minute
	maxHeader      = 64 << 10
	maxStreams     = 128
	streamRoom     = 256 << 10
	maxFrame       = 256 << 10
	pingAfter      = 15 * time.Second
	pingTime       = 10 * time.Second
	writeStallTime = 30 * time.Second
)

// NewHTTP makes a server for the handler, with the settings that the promises of this package need: HTTP/1.1 and HTTP/2 on one
// port, with TLS and without (h2c, with prior knowledge); slow headers are cut; connections whose other side is gone are
// found and closed within half a minute. There is no limit to how long a response may take.
func NewHTTP(handler http.Handler, logger *slog.Logger) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		Protocols:         &protocols,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          maxStreams,
			MaxReceiveBufferPerStream:     streamRoom,
			MaxReceiveBufferPerConnection: maxStreams * streamRoom,
			MaxReadFrameSize:              maxFrame,
			SendPingTimeout:               pingAfter,
			PingTimeout:                   pingTime,
			WriteByteTimeout:              writeStallTime,
		},
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// Listen listens for NewHTTP: on a TCP address, "host:port", or on a unix socket, "unix:/path". A connection whose other side
// does not answer any more is closed by the kernel within half a minute. A socket of mode 0600 is made, and a stale one
// that nobody listens on is replaced.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	if path, ok := unixPath(address); ok {
		return listenUnix(ctx, path)
	}
	config := net.ListenConfig{KeepAliveConfig: keepAlive, Control: userTimeout}
	config.SetMultipathTCP(false) // it has no user timeout
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// keepAlive finds the other side gone within half a minute.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: pingAfter, Interval: pingTime / 2, Count: 3}

// Adopt gives a listener that was made elsewhere, as by systemd, what Listen gives its own: connections whose other side does
// not answer any more are closed.
func Adopt(l net.Listener) net.Listener {
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return l
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = userTimeout("", "", raw) // a multipath socket has none, and has the keep-alives
	}
	return adopted{tcp}
}

type adopted struct{ *net.TCPListener }

// Accept implements net.Listener.
func (l adopted) Accept() (net.Conn, error) {
	conn, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	_ = conn.SetKeepAliveConfig(keepAlive) // one that is gone already says so with its first read
	return conn, nil
}

// Loopback reports whether only this machine can reach a listener.
func Loopback(l net.Listener) bool {
	switch a := l.Addr().(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	}
	return false
}

var errInUse = errors.New("somebody listens there already")
