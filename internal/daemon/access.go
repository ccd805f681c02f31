package daemon

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/server"
)

// Principals without credentials. The colon keeps the owner apart from all names that a file can have.
const (
	anyoneName = "local"
	ownerName  = "unix:owner"
)

// access says who comes in by which listener.
type access struct {
	// known are those with credentials; nil when none are configured.
	known server.Authenticator
	// tokens is set when some of them are tokens, which a unix socket can carry.
	tokens   bool
	anyone   server.Authenticator
	warnings []string
}

// openAccess reads the files that say who may come in.
func openAccess(c *Config, log *slog.Logger) (*access, error) {
	a := &access{anyone: server.Anonymous(&server.Principal{Name: anyoneName, Policy: server.DefaultPolicy()})}
	opts := &server.FileOptions{Logger: log}
	if c.Policy != "" {
		policies, err := server.OpenPolicies(c.Policy, log)
		if err != nil {
			return nil, err
		}
		opts.Policies = policies
		a.anyone = anyone{policies}
	}
	var known []server.Authenticator
	if c.Tokens != "" {
		tokens, err := server.OpenTokens(c.Tokens, opts)
		if err != nil {
			return nil, err
		}
		a.warnings, a.tokens = append(a.warnings, tokens.Warnings()...), true
		known = append(known, tokens)
	}
	if c.Certificates != "" {
		certs, err := server.OpenCertificates(c.Certificates, opts)
		if err != nil {
			return nil, err
		}
		a.warnings = append(a.warnings, certs.Warnings()...)
		known = append(known, certs)
	}
	if len(known) > 0 {
		a.known = server.FirstOf(known...)
	}
	return a, nil
}

// anyone is who needs no credentials, with the policy "default" of the file.
type anyone struct{ policies *server.Policies }

// Authenticate implements server.Authenticator.
func (a anyone) Authenticate(http.Header, *tls.ConnectionState) (*server.Principal, error) {
	policy, ok := a.policies.Named("default")
	if !ok { // the file must have it
		return nil, fmt.Errorf("%w: there is no policy for callers without credentials", engine.ErrUnauthenticated)
	}
	return &server.Principal{Name: anyoneName, Policy: policy}, nil
}

// errBeyond: everybody in the network could run code here.
var errBeyond = errors.New("is reachable from beyond this machine, and everybody there could run code: set --tokens, or --client-ca and --certificates, or listen on 127.0.0.1")

// guard says who is known by a listener, and gives the listener to accept from. Only the user of the server, or root, comes
// through a unix socket without tokens, and may do what this user may.
func (a *access) guard(l net.Listener) (net.Listener, server.Authenticator, error) {
	unix := l.Addr().Network() == "unix"
	switch {
	case unix && !a.tokens:
		owner := &server.Principal{Name: ownerName, Admin: true, Policy: server.OwnerPolicy()}
		return server.OwnerOnly(l), server.Anonymous(owner), nil
	case a.known != nil:
		return l, a.known, nil
	case !server.Loopback(l):
		return nil, nil, fmt.Errorf("listener %s %w", l.Addr(), errBeyond)
	}
	return l, a.anyone, nil
}
