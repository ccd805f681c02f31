package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"time"

	"connectrpc.com/connect"
)

// A call is what is found out about a call on its way, for the log. Its fields belong to the goroutine of the handler.
type call struct{ session, run string }

type callKey struct{}

// concerns notes what a call has to do with. Ids that are not of the caller's own sessions and runs are not noted: they can be
// any text.
func (s *Server) concerns(ctx context.Context, session, run string) {
	if c, _ := ctx.Value(callKey{}).(*call); c != nil {
		c.session, c.run = session, run
	}
	s.opts.Tracer.Concerns(ctx, session, run)
}

// about are the attributes that all lines about a call share.
func about(ctx context.Context) []slog.Attr {
	var attrs []slog.Attr
	if p := principalOf(ctx); p != nil {
		attrs = append(attrs, slog.String("principal", p.Name))
	}
	c, _ := ctx.Value(callKey{}).(*call)
	if c == nil {
		return attrs
	}
	for _, id := range []struct{ key, value string }{{"session", c.session}, {"run", c.run}} {
		if id.value != "" {
			attrs = append(attrs, slog.String(id.key, id.value))
		}
	}
	return attrs
}

// calls tells the observer and the log of each call when it has ended. It stands around all other interceptors.
type calls struct{ *Server }

// WrapUnary implements connect.Interceptor.
func (c calls) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		began := time.Now()
		ctx = context.WithValue(ctx, callKey{}, &call{})
		res, err := next(ctx, req)
		c.ended(ctx, req.Spec().Procedure, began, err)
		return res, err
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (calls) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (c calls) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		began := time.Now()
		ctx = context.WithValue(ctx, callKey{}, &call{})
		err := next(ctx, conn)
		c.ended(ctx, conn.Spec().Procedure, began, err)
		return err
	}
}

func (s *Server) ended(ctx context.Context, procedure string, began time.Time, err error) {
	code, took := codeWord(err), time.Since(began)
	s.opts.Observer.CallEnded(procedure, code, took)
	if !s.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{slog.String("call", procedure), slog.String("code", code), slog.Duration("took", took)}
	s.log.LogAttrs(ctx, slog.LevelDebug, "call ended", append(attrs, about(ctx)...)...)
}

func codeWord(err error) string {
	if err == nil {
		return CodeOK
	}
	return connect.CodeOf(err).String()
}

// counted has the observer know of the calls that the gate refuses: no interceptor sees them.
func (s *Server) counted(gate connect.RequestGateFunc) connect.RequestGateFunc {
	return func(ctx context.Context, spec connect.Spec, peer connect.Peer, header http.Header) (context.Context, error) {
		began := time.Now()
		in, err := gate(ctx, spec, peer, header)
		if err != nil {
			s.opts.Observer.CallEnded(spec.Procedure, codeWord(err), time.Since(began))
		}
		return in, err
	}
}

// withoutScript is the text of err without what scripts wrote, for the log.
func withoutScript(err error) string {
	text := err.Error()
	var e interface{ ScriptText() string }
	if errors.As(err, &e) && e.ScriptText() != "" {
		text = strings.ReplaceAll(text, e.ScriptText(), "[text of the script]")
	}
	return text
}

// panicText says what a panic was, for the log. Go's own say no more than types and numbers; others may have any data in
// them, and where it was is in the stack.
func panicText(what any) string {
	if err, ok := what.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a value of type %v", reflect.TypeOf(what))
}
