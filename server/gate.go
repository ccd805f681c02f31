package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// A Gate lets through whom its authenticator knows, before anything of a request's body is read. It may be used by several
// goroutines at once.
type Gate struct {
	who    Authenticator
	logger *slog.Logger
	errors *connect.ErrorWriter
}

// NewGate makes a gate. The logger is told of callers that are refused, with why and from where, and never with what they sent. Nil: none.
func NewGate(who Authenticator, logger *slog.Logger) *Gate {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Gate{who, logger, connect.NewErrorWriter()}
}

// A caller is what the gate needs to know of a connection. Connect tells it headers alone.
type caller struct {
	tls  *tls.ConnectionState
	addr string
}

type callerKey struct{}

// Callers hands the TLS state of each request on to the gates of the handlers in next. It stands around all of them: without it, no
// client certificate is seen.
func (g *Gate) Callers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := caller{r.TLS, r.RemoteAddr}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
}

// Request is a connect.RequestGateFunc, for connect.WithRequestGate: handlers find the caller by principalOf. Health passes without
// credentials, and with wrong ones.
func (g *Gate) Request(ctx context.Context, spec connect.Spec, _ connect.Peer, header http.Header) (context.Context, error) {
	c, _ := ctx.Value(callerKey{}).(caller)
	if spec.Procedure == sandboxv2connect.SandboxServiceHealthProcedure {
		// Probes come often and without credentials: that is no news for the log.
		if p, err := g.who.Authenticate(header, c.tls); err == nil {
			return withPrincipal(ctx, settle(p)), nil
		}
		return ctx, nil
	}
	p, err := g.authenticate(ctx, spec.Procedure, c, header)
	if err != nil {
		return nil, err
	}
	return withPrincipal(ctx, p), nil
}

// HTTP is the gate for a handler that is not made with Request. Who is refused gets the error in the form of its protocol, or
// 401. It does not need Callers around it.
func (g *Gate) HTTP(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := g.authenticate(r.Context(), r.URL.Path, caller{r.TLS, r.RemoteAddr}, r.Header)
		if err == nil {
			next.ServeHTTP(w, r.WithContext(withPrincipal(r.Context(), p)))
			return
		}
		if g.errors.IsSupported(r) {
			// What it returns is that the client has gone.
			_ = g.errors.Write(w, r, err)
			return
		}
		w.Header().Set(challengeHeader, challenge)
		http.Error(w, engine.ErrUnauthenticated.Error(), http.StatusUnauthorized)
	})
}

func (g *Gate) authenticate(ctx context.Context, what string, c caller, header http.Header) (*Principal, error) {
	p, err := g.who.Authenticate(header, c.tls)
	if err != nil {
		g.logger.LogAttrs(ctx, slog.LevelInfo, "caller refused",
			slog.String("call", what), slog.String("from", c.addr), slog.Any("err", err))
		return nil, unauthenticated()
	}
	return settle(p), nil
}

// settle gives a principal without a policy the zero one, so that handlers need not look.
func settle(p *Principal) *Principal {
	if p.Policy != nil {
		return p
	}
	settled := *p
	settled.Policy = &Policy{}
	return &settled
}

// A response 401 names the scheme that is wanted: RFC 9110, 11.6.1.
const (
	challengeHeader = "Www-Authenticate"
	challenge       = `Bearer realm="sandbar"`
)

// unauthenticated is the same for all that can be wrong with credentials. The log says which it was.
func unauthenticated() *connect.Error {
	err := connect.NewError(connect.CodeUnauthenticated, engine.ErrUnauthenticated)
	err.Meta().Set(challengeHeader, challenge)
	detail, problem := connect.NewErrorDetail(&sandboxv2.ErrorDetail{
		Kinds: []sandboxv2.ErrorKind{sandboxv2.ErrorKind_ERROR_KIND_UNAUTHENTICATED},
	})
	if problem != nil { // it cannot be marshalled, which a message of ours can
		return connect.NewError(connect.CodeInternal, errors.New("internal error"))
	}
	err.AddDetail(detail)
	return err
}
