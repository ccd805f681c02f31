package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// ClientOptions are for NewClient. Nil and the zero value mean the defaults.
type ClientOptions struct {
	// Token is sent with each call. Empty: none.
	Token string
	// PlainToken lets the token go over a connection without TLS to another machine: who listens there has it then.
	PlainToken bool
	// TLS is for https URLs: its roots and its client certificate. Nil: the system's roots.
	TLS *tls.Config
	// KeepAlive is after how much silence of a connection the server is asked whether it is there; it has half as long to
	// answer. Zero: 10 seconds. At least one second.
	KeepAlive time.Duration
	// Connect are further options of the client, such as interceptors.
	Connect []connect.ClientOption
}

// The default of KeepAlive, and the least.
const (
	defaultKeepAlive = 10 * time.Second
	minKeepAlive     = time.Second
)

// A Client opens sessions of one server. They share its connections: each run and each file that is under way has one. It is safe for concurrent use. Who made it closes it, after its sessions.
type Client struct {
	endpoint string
	rpc      sandboxv2connect.SandboxServiceClient
	roads    *roads
	conns    *conns
	alone    bool // made for one session, and its snapshots, which may outlive it
	// alive is after how long without a word the server is asked whether it is there, beat how often it says that a run goes on,
	// silence after how long without a word it is taken for dead.
	alive, beat, silence time.Duration
}

// NewClient makes a client for the server at a URL: "http://host:port", "https://host:port" or "unix:///path". It does not
// connect yet. Errors are engine.ErrInvalid.
func NewClient(endpoint string, opts *ClientOptions) (*Client, error) {
	if opts == nil {
		opts = &ClientOptions{}
	}
	t, err := targetOf(endpoint)
	if err != nil {
		return nil, err
	}
	if opts.Token != "" && !t.private && !opts.PlainToken {
		return nil, &engine.InvalidError{Field: "Token", Problem: "would go to another machine in the clear; use https, or allow it with PlainToken"}
	}
	if strings.ContainsFunc(opts.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &engine.InvalidError{Field: "Token", Problem: "has characters that no token has"}
	}
	alive := opts.KeepAlive
	or(&alive, defaultKeepAlive)
	alive = max(alive, minKeepAlive)
	all := &conns{dial: t.dialer(alive), open: map[*conn]struct{}{}}
	roads := newRoads(t.secure, all, alive, opts.TLS)
	var caller connect.HTTPClient = roads
	if opts.Token != "" {
		caller = &bearer{caller, "Bearer " + opts.Token}
	}
	options := append([]connect.ClientOption{
		connect.WithAcceptCompression("gzip", nil, nil), // it costs more time than a local network saves
		connect.WithReadMaxBytes(maxAnswer),
	}, opts.Connect...)
	rpc := sandboxv2connect.NewSandboxServiceClient(caller, t.base, options...)
	return &Client{endpoint: endpoint, rpc: rpc, roads: roads, conns: all, alive: alive, beat: alive / 2, silence: alive + alive/2}, nil
}

// maxAnswer bounds a message of the server: a hundred thousand files with long names.
const maxAnswer = 64 << 20

// RPC is the client of the protocol itself, for what a Session does not have: the lists of sessions and runs, and runs that
// go on without their client.
func (c *Client) RPC() sandboxv2connect.SandboxServiceClient { return c.rpc }

// Close closes the connections. Calls that are under way end with an error, and later ones have it. It may be called again.
func (c *Client) Close() error {
	c.conns.close()
	c.roads.close()
	return nil
}

// rest closes connections that nobody uses, when the session that the client was made for is closed, or a snapshot of it.
func (c *Client) rest() error {
	if c.alone {
		c.roads.close()
	}
	return nil
}

func or(v *time.Duration, def time.Duration) {
	if *v == 0 {
		*v = def
	}
}

// bearer adds the token to each request.
type bearer struct {
	next  connect.HTTPClient
	value string
}

// Do implements connect.HTTPClient.
func (b *bearer) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", b.value)
	return b.next.Do(r)
}

// target is what a URL leads to.
type target struct {
	base    string // of requests
	socket  string // path; empty for TCP
	secure  bool
	private bool // what is sent does not leave this machine in the clear
}

func targetOf(endpoint string) (*target, error) {
	invalid := func(problem string) (*target, error) {
		return nil, &engine.InvalidError{Field: "url", Problem: problem}
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return invalid("is none") // the error has the whole of it, with a password maybe
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return invalid("has more than scheme, host, port and path; a token is an option of its own")
	}
	switch u.Scheme {
	case "unix":
		if u.Host != "" || u.Path == "" || u.Path == "/" {
			return invalid("is not unix:///path")
		}
		return &target{base: "http://localhost", socket: u.Path, private: true}, nil
	case "http", "https":
		if u.Hostname() == "" {
			return invalid("has no host")
		}
		base := strings.TrimSuffix(endpoint, "/")
		secure := u.Scheme == "https"
		return &target{base: base, secure: secure, private: secure || loopback(u.Hostname())}, nil
	}
	return invalid(fmt.Sprintf("has the scheme %q; there are http, https and unix", u.Scheme))
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// refused reports whether err is the error of a connection that was refused: nothing was sent.
func refused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// broken reports whether an error is one of the connection, and no answer of the server.
func broken(err error) bool {
	return !connect.IsWireError(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF)
}
