package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
	"github.com/sandbar-dev/sandbar/server/console"
)

// HandlerOptions are for Server.Handler. Nil means the defaults.
type HandlerOptions struct {
	// Browser says which names and pages are let in. Nil: names of this machine on loopback, and no pages.
	Browser *BrowserOptions
	// Authenticator knows the callers of this handler, where they come in another way than those of others. Nil: that of Options.
	Authenticator Authenticator
	// Console serves the page of package console at /console/, and lets it call the server: see BrowserOptions.Console.
	Console bool
	// Connect are further options of the service, such as interceptors.
	Connect []connect.HandlerOption
}

// The most bytes of a message, as it is without compression. Less than a message is read when it says that it is larger, and
// no more of one that turns out to be.
const (
	maxMessage = 4 << 20
	// A script, with its arguments and environment, and one and a third as much as JSON.
	maxRunMessage = (engine.MaxScript + maxMessage) / 3 * 4
	// A file in one message.
	maxFileMessage = (maxUnary + maxMessage) / 3 * 4
	// Compression of less is not worth it.
	minCompressed = 1 << 10
)

// readMax bounds the messages of each procedure.
func readMax(spec connect.Spec) []connect.HandlerOption {
	return []connect.HandlerOption{connect.WithReadMaxBytes(maxOf(spec.Procedure))}
}

func maxOf(procedure string) int {
	switch procedure {
	case sandboxv2connect.SandboxServiceRunProcedure, sandboxv2connect.SandboxServiceRunInteractiveProcedure,
		sandboxv2connect.SandboxServiceOpenSessionProcedure, sandboxv2connect.SandboxServiceOpenFromProcedure:
		return maxRunMessage
	case sandboxv2connect.SandboxServicePutBytesProcedure:
		return maxFileMessage
	}
	return maxMessage
}

// Handler is the service over Connect, gRPC and gRPC-Web, with gRPC's health checks and reflection. It authenticates, and keeps
// pages in browsers off. An error is that of the options.
func (s *Server) Handler(opts *HandlerOptions) (http.Handler, error) {
	if opts == nil {
		opts = &HandlerOptions{}
	}
	guard, err := NewBrowserGuard(opts.browser())
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	who := opts.Authenticator
	if who == nil {
		who = s.opts.Authenticator
	}
	gate := NewGate(who, s.log)
	open := append([]connect.HandlerOption{
		connect.WithConditionalHandlerOptions(readMax),
		connect.WithCompressMinBytes(minCompressed),
		connect.WithInterceptors(calls{s}), // around the next one, so that it sees what that makes of a panic
		connect.WithRecover(s.panicked),
	}, opts.Connect...)
	options := append([]connect.HandlerOption{connect.WithRequestGate(s.counted(gate.Request))}, open...)
	mux := http.NewServeMux()
	mux.Handle(sandboxv2connect.NewSandboxServiceHandler(&handler{s}, options...))
	mux.Handle(grpchealth.NewHandler(healthChecker{s}, open...)) // whoever checks has no credentials, and learns a word
	for _, reflection := range []func(*grpcreflect.Reflector, ...connect.HandlerOption) (string, http.Handler){
		grpcreflect.NewHandlerV1, grpcreflect.NewHandlerV1Alpha,
	} {
		path, h := reflection(grpcreflect.NewStaticReflector(sandboxv2connect.SandboxServiceName, grpchealth.HealthV1ServiceName), options...)
		mux.Handle(path, h)
	}
	if opts.Console {
		mux.Handle(consolePath, http.StripPrefix(consolePath, console.Handler()))
	}
	return s.answerEarly(guard.Wrap(gate.Callers(withResponse(s.boundBody(boundSize(mux)))))), nil
}

// consolePath is where the console page is.
const consolePath = "/console/"

// browser are the guard's options, with the console's.
func (o *HandlerOptions) browser() *BrowserOptions {
	if !o.Console {
		return o.Browser
	}
	b := BrowserOptions{}
	if o.Browser != nil {
		b = *o.Browser
	}
	b.Console = true
	return &b
}

// panicked is a fault of ours in a call. The others go on.
func (s *Server) panicked(ctx context.Context, spec connect.Spec, _ http.Header, what any) error {
	attrs := append(about(ctx), slog.String("call", spec.Procedure), slog.String("panic", panicText(what)), slog.String("stack", string(debug.Stack())))
	s.log.LogAttrs(ctx, slog.LevelError, "panic in a call", attrs...)
	return connect.NewError(connect.CodeInternal, fmt.Errorf("internal error"))
}

// healthChecker answers gRPC's health checks.
type healthChecker struct{ s *Server }

// Check implements grpchealth.Checker.
func (c healthChecker) Check(_ context.Context, req *grpchealth.CheckRequest) (*grpchealth.CheckResponse, error) {
	switch {
	case req.Service != "" && req.Service != sandboxv2connect.SandboxServiceName:
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("unknown service"))
	case c.s.Draining():
		return &grpchealth.CheckResponse{Status: grpchealth.StatusNotServing}, nil
	}
	return &grpchealth.CheckResponse{Status: grpchealth.StatusServing}, nil
}
