package server

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// A session is one of a principal's.
type session struct {
	*engine.Session
	principal *Principal
	label     string
	backend   string
	use       *usage
	maxOutput int64 // of a run that names none

	mu    sync.Mutex
	runs  map[string]*known
	ended []string // those that have ended, the oldest first
}

func (s *session) key() string   { return s.ID() }
func (s *session) owner() string { return s.principal.Name }
func (s *session) usage() *usage { return s.use }

// session finds a session of the caller, and has it in use until done.
func (s *Server) session(ctx context.Context, id string) (se *session, done func(), err error) {
	se, done, err = s.sessions.use(id, principalOf(ctx).Name)
	if err != nil {
		return nil, nil, fmt.Errorf("session: %w", err)
	}
	s.concerns(ctx, se.ID(), "")
	return se, done, nil
}

// maxLabel is the most bytes of a session's label.
const maxLabel = 128

// opening is what a call asks for when it opens a session.
type opening struct {
	options    *sandboxv2.SessionOptions
	idle, life *durationpb.Duration
	label      string
	from       *engine.Snapshot
}

// open opens a session for the caller.
func (s *Server) open(ctx context.Context, o *opening) (*session, error) {
	if err := s.admit(); err != nil {
		return nil, err
	}
	p := principalOf(ctx)
	opts, backend, err := wire.ToOptions(o.options)
	if err != nil {
		return nil, err
	}
	if backend == "" {
		backend = s.opts.Backends[0]
	}
	if len(o.label) > maxLabel {
		return nil, &engine.InvalidError{Field: "label", Problem: fmt.Sprintf("has %d bytes, more than the maximum of %d", len(o.label), maxLabel)}
	}
	use, err := s.lease(p, o.idle, o.life)
	if err != nil {
		return nil, err
	}
	opts.From = o.from
	if err := p.Policy.Apply(opts, s.named(backend)); err != nil {
		return nil, err
	}
	if err := s.knowsBackend(backend); err != nil {
		return nil, err
	}
	if err := s.sessions.reserve(p.Name, most(p.Policy.MaxSessions, s.opts.Limits.Sessions)); err != nil {
		return nil, err
	}
	kept := false
	defer func() {
		if !kept { // also after a panic, which ends this call alone
			s.sessions.unreserve(p.Name)
		}
	}()
	done, err := s.work()
	if err != nil {
		return nil, err
	}
	defer done()
	began := time.Now()
	opts.Logger = s.log
	or(&opts.MaxOutput, engine.DefaultMaxOutput)
	opening, cancel := s.untilClose(ctx)
	defer cancel()
	es, err := s.host.Open(opening, backend, opts)
	s.opts.Observer.SessionOpened(backend, time.Since(began), err)
	if err != nil {
		return nil, err
	}
	kept = true
	se := &session{Session: es, principal: p, label: o.label, backend: backend, use: use, maxOutput: opts.MaxOutput, runs: map[string]*known{}}
	s.sessions.add(se)
	s.concerns(ctx, se.ID(), "")
	s.log.Info("session opened", slog.String("session", se.ID()), slog.String("principal", p.Name), slog.String("backend", backend))
	if opening.Err() != nil { // Close may have missed it, or nobody is there any more to learn its name
		if se, err := s.sessions.take(se.ID(), p.Name, false); err == nil {
			_ = s.closeSession(se, ClosedUnwanted) // it is logged
		}
		return nil, context.Cause(opening)
	}
	return se, nil
}

// knowsBackend refuses a backend that the server was not made with.
func (s *Server) knowsBackend(name string) error {
	if slices.Contains(s.opts.Backends, name) {
		return nil
	}
	return fmt.Errorf("%w: backend %q; this server has %v", engine.ErrNotAvailable, name, s.opts.Backends)
}

// named is the name of a backend for policies, which call the server's default by none: it may always be asked for.
func (s *Server) named(backend string) string {
	if backend == s.opts.Backends[0] && backend != NoIsolation {
		return ""
	}
	return backend
}

// most is how many a principal may have: what its policy says, or as many as the server allows.
func most(policy, server int) int {
	switch {
	case policy == 0:
		return server
	case policy < 0:
		return 0
	}
	return min(policy, server)
}

// lease makes the times of a session or snapshot.
func (s *Server) lease(p *Principal, idle, life *durationpb.Duration) (*usage, error) {
	askedIdle, err := wire.ToDuration("IdleTimeout", idle)
	if err != nil {
		return nil, err
	}
	askedLife, err := wire.ToDuration("Lifetime", life)
	if err != nil {
		return nil, err
	}
	idleFor, err := p.Policy.idleTimeout(askedIdle, s.opts.IdleTimeout, s.opts.IdleTimeout)
	if err != nil {
		return nil, err
	}
	lifetime := max(s.opts.Lifetime, 0) // negative has no end
	lifeFor, err := p.Policy.lifetime(askedLife, lifetime, lifetime)
	if err != nil {
		return nil, err
	}
	return newUsage(idleFor, lifeFor), nil
}

// takeSession ends a session of the principal, or of anybody for an administrator.
func (s *Server) takeSession(ctx context.Context, id string) error {
	p := principalOf(ctx)
	done, err := s.work()
	if err != nil {
		return err
	}
	defer done()
	se, err := s.sessions.take(id, p.Name, p.Admin)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	s.concerns(ctx, se.ID(), "")
	return s.closeSession(se, ClosedAsked)
}

// closeSession ends a session that was taken out of the table.
func (s *Server) closeSession(se *session, why string) error {
	began := time.Now()
	err := se.Close()
	s.sessions.unreserve(se.owner())
	s.opts.Observer.SessionClosed(se.backend, why, time.Since(began))
	attrs := []any{slog.String("session", se.ID()), slog.String("why", why)}
	if err != nil {
		s.log.Warn("session not closed in order", append(attrs, slog.Any("err", err))...)
		return err
	}
	s.log.Info("session closed", attrs...)
	return nil
}

// describe is what a client learns of a session.
func (s *session) describe(full bool) *sandboxv2.Session {
	out := &sandboxv2.Session{
		SessionId:   s.ID(),
		Label:       s.label,
		Principal:   s.owner(),
		CreatedAt:   timestamppb.New(s.use.created),
		IdleAt:      timestamppb.New(s.use.idleAt()),
		IdleTimeout: durationpb.New(s.use.idle),
		Backend:     s.backend,
		Usage:       wire.Usage(new(s.Usage())),
	}
	if !s.use.expires.IsZero() {
		out.ExpiresAt = timestamppb.New(s.use.expires)
	}
	if full {
		out.Info = wire.Info(new(s.Info()), s.Warnings())
	}
	return out
}

// OpenSession implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) OpenSession(ctx context.Context, req *connect.Request[sandboxv2.OpenSessionRequest]) (*connect.Response[sandboxv2.OpenSessionResponse], error) {
	m := req.Msg
	se, err := h.open(ctx, &opening{options: m.GetOptions(), idle: m.GetIdleTimeout(), life: m.GetLifetime(), label: m.GetLabel()})
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return connect.NewResponse(&sandboxv2.OpenSessionResponse{Session: se.describe(true)}), nil
}

// OpenFrom implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) OpenFrom(ctx context.Context, req *connect.Request[sandboxv2.OpenFromRequest]) (*connect.Response[sandboxv2.OpenFromResponse], error) {
	m := req.Msg
	sn, done, err := h.snapshot(ctx, m.GetSnapshotId())
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	defer done()
	se, err := h.open(ctx, &opening{options: m.GetOptions(), idle: m.GetIdleTimeout(), life: m.GetLifetime(), label: m.GetLabel(), from: sn.snap})
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	return connect.NewResponse(&sandboxv2.OpenFromResponse{Session: se.describe(true)}), nil
}

// GetSession implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) GetSession(ctx context.Context, req *connect.Request[sandboxv2.GetSessionRequest]) (*connect.Response[sandboxv2.GetSessionResponse], error) {
	se, done, err := h.session(ctx, req.Msg.GetSessionId())
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	defer done()
	return connect.NewResponse(&sandboxv2.GetSessionResponse{Session: se.describe(true)}), nil
}

// ListSessions implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) ListSessions(ctx context.Context, req *connect.Request[sandboxv2.ListSessionsRequest]) (*connect.Response[sandboxv2.ListSessionsResponse], error) {
	p := principalOf(ctx)
	if req.Msg.GetAll() && !p.Admin {
		return nil, h.fail(ctx, &DeniedError{Field: "all", Problem: "is for administrators"})
	}
	out := &sandboxv2.ListSessionsResponse{}
	for _, se := range h.sessions.list(p.Name, req.Msg.GetAll()) {
		out.Sessions = append(out.Sessions, se.describe(false))
	}
	return connect.NewResponse(out), nil
}

// RenewSession implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) RenewSession(ctx context.Context, req *connect.Request[sandboxv2.RenewSessionRequest]) (*connect.Response[sandboxv2.RenewSessionResponse], error) {
	se, done, err := h.session(ctx, req.Msg.GetSessionId())
	if err != nil {
		return nil, h.fail(ctx, err)
	}
	done()
	d := se.describe(false)
	return connect.NewResponse(&sandboxv2.RenewSessionResponse{IdleAt: d.GetIdleAt(), ExpiresAt: d.GetExpiresAt()}), nil
}

// CloseSession implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) CloseSession(ctx context.Context, req *connect.Request[sandboxv2.CloseSessionRequest]) (*connect.Response[sandboxv2.CloseSessionResponse], error) {
	if err := h.takeSession(ctx, req.Msg.GetSessionId()); err != nil {
		return nil, h.fail(ctx, err)
	}
	return connect.NewResponse(&sandboxv2.CloseSessionResponse{}), nil
}
