package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"github.com/sandbar-dev/sandbar/engine"
)

// A Principal is who calls. Sessions, runs and snapshots belong to the principal that made them, by its name.
type Principal struct {
	// Name tells principals apart: see the file of OpenTokens for its letters.
	Name string
	// Admin may list and close the sessions of all principals. It does not widen the policy.
	Admin bool
	// Policy says what the principal may ask for. Nil: what the zero Policy allows.
	Policy *Policy
}

// An Authenticator finds out who calls. Its methods may be called by several goroutines at once.
type Authenticator interface {
	// Authenticate names the caller from the headers of its request and its TLS connection, which is nil without TLS.
	// An error is engine.ErrUnauthenticated, and has no credentials in its text.
	Authenticate(header http.Header, tls *tls.ConnectionState) (*Principal, error)
}

// errWrongCredentials: the caller gave credentials, and they are wrong. FirstOf asks nobody else then.
var errWrongCredentials = errors.New("wrong credentials")

func wrongCredentials(problem string) error {
	return fmt.Errorf("%w: %w: %s", engine.ErrUnauthenticated, errWrongCredentials, problem)
}

func noCredentials(problem string) error {
	return fmt.Errorf("%w: %s", engine.ErrUnauthenticated, problem)
}

// Anonymous takes every caller for one principal, whatever credentials it has. Only who reaches the listener limits who that
// is: see OwnerPolicy for what to give it.
func Anonymous(p *Principal) Authenticator { return anonymous{p} }

type anonymous struct{ p *Principal }

func (a anonymous) Authenticate(http.Header, *tls.ConnectionState) (*Principal, error) {
	return a.p, nil
}

// FirstOf asks one authenticator after the other, until one knows the caller. A token that is wrong ends the search: who gives
// one has a mistake to learn of, and must not go on under another name. A client certificate that names nobody does not, since
// clients have those for other reasons too.
func FirstOf(all ...Authenticator) Authenticator { return firstOf(all) }

type firstOf []Authenticator

func (all firstOf) Authenticate(header http.Header, state *tls.ConnectionState) (*Principal, error) {
	err := noCredentials("no credentials are accepted here")
	for _, a := range all {
		p, problem := a.Authenticate(header, state)
		if problem == nil {
			return p, nil
		}
		err = problem
		if errors.Is(err, errWrongCredentials) {
			break
		}
	}
	return nil, err
}

type principalKey struct{}

func withPrincipal(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// principalOf is who calls, as the gate found out. It is nil for a call of Health without credentials, and nowhere else
// behind the gate.
func principalOf(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}
