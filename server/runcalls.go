package server

import (
	"context"
	"errors"
	"io"
	"time"

	"connectrpc.com/connect"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/wire"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
)

// Run implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) Run(ctx context.Context, req *connect.Request[sandboxv2.RunRequest], stream *connect.ServerStream[sandboxv2.RunResponse]) error {
	m := req.Msg
	var msg sandboxv2.RunResponse
	send := func(ev *sandboxv2.RunEvent) error {
		msg.Event = ev
		return stream.Send(&msg)
	}
	return h.inSession(ctx, m.GetSessionId(), func(se *session) error {
		beat, err := heartbeatOf(m.GetHeartbeat())
		if err != nil {
			return err
		}
		stop := beatMeanwhile(beat, send)
		r, err := h.start(ctx, se, m, m.GetStdinPipe())
		stop()
		if err != nil {
			return err
		}
		return h.stream(ctx, se, r, m, beat, send)
	})
}

// stream sends a run to the client that has started it.
func (h *handler) stream(ctx context.Context, se *session, r *run, m *sandboxv2.RunRequest, beat time.Duration, send sender) error {
	if r.log != nil {
		r.concludeLater()
		return h.attach(ctx, &known{run: r, log: r.log}, [2]int64{}, beat, send)
	}
	return h.follow(ctx, se, r, m, beat, send)
}

// AttachRun implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) AttachRun(ctx context.Context, req *connect.Request[sandboxv2.AttachRunRequest], stream *connect.ServerStream[sandboxv2.AttachRunResponse]) error {
	m := req.Msg
	return h.inRun(ctx, m.GetSessionId(), m.GetRunId(), func(r *known) error {
		beat, err := heartbeatOf(m.GetHeartbeat())
		if err != nil {
			return err
		}
		return h.attach(ctx, r, [2]int64{m.GetStdoutOffset(), m.GetStderrOffset()}, beat, func(ev *sandboxv2.RunEvent) error {
			return stream.Send(&sandboxv2.AttachRunResponse{Event: ev})
		})
	})
}

// RunInteractive implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) RunInteractive(ctx context.Context, stream *connect.BidiStream[sandboxv2.RunInteractiveRequest, sandboxv2.RunInteractiveResponse]) error {
	setReadDeadline(ctx, time.Now().Add(h.opts.MessageTimeout))
	first, err := stream.Receive()
	setReadDeadline(ctx, time.Time{}) // what follows is silent for as long as its user is
	if err != nil {
		return h.fail(ctx, streamError(ignoreEOF(err)))
	}
	m := first.GetStart()
	if m == nil {
		return h.fail(ctx, &engine.InvalidError{Field: "start", Problem: "is not in the first message"})
	}
	return h.inSession(ctx, m.GetSessionId(), func(se *session) error {
		beat, err := heartbeatOf(m.GetHeartbeat())
		if err != nil {
			return err
		}
		send := func(ev *sandboxv2.RunEvent) error {
			return stream.Send(&sandboxv2.RunInteractiveResponse{Event: ev})
		}
		stop := beatMeanwhile(beat, send)
		r, err := h.start(ctx, se, m, true)
		stop()
		if err != nil {
			return err
		}
		listening := make(chan struct{})
		listenCtx, cancel := context.WithCancel(ctx)
		go func() {
			defer close(listening)
			h.listen(listenCtx, r, stream)
		}()
		// What the client sends is read until the run has been told: reading after the handler would be reading a request
		// that is somebody else's by then.
		defer func() {
			cancel() // it may wait for a script that does not read
			if c := controllerOf(ctx); c != nil && c.SetReadDeadline(time.Now()) == nil {
				<-listening
			}
		}()
		return h.stream(ctx, se, r, m, beat, send)
	})
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// errClientGone is what the script's read of stdin fails with.
var errClientGone = errors.New("the client went away")

// listen does what the client of an interactive run says.
func (h *handler) listen(ctx context.Context, r *run, stream *connect.BidiStream[sandboxv2.RunInteractiveRequest, sandboxv2.RunInteractiveResponse]) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-r.Done():
			cancel() // nobody reads stdin any more
		case <-ctx.Done():
		}
	}()
	for {
		m, err := stream.Receive()
		switch {
		case errors.Is(err, io.EOF):
			r.stdin.finish(io.EOF)
			return
		case err != nil:
			r.stdin.finish(errClientGone)
			return
		}
		switch a := m.GetAction().(type) {
		case *sandboxv2.RunInteractiveRequest_Stdin:
			_ = r.stdin.write(ctx, a.Stdin) // a script that reads no more is no error, as with a pipe
		case *sandboxv2.RunInteractiveRequest_StdinEnd:
			r.stdin.finish(stdinEnd(a.StdinEnd))
		case *sandboxv2.RunInteractiveRequest_Resize:
			_ = r.Resize(wire.ToTerminalSize(a.Resize)) // a size that no terminal has changes nothing
		case *sandboxv2.RunInteractiveRequest_Signal:
			_ = signal(r, a.Signal) // nor does an unknown signal
		}
	}
}

func stdinEnd(end *sandboxv2.StdinEnd) error {
	if text := end.GetError(); text != "" {
		return errors.New(text)
	}
	return io.EOF
}

// signal sends a signal to a run.
func signal(r *run, sig sandboxv2.Signal) error {
	s, err := wire.ToSignal(sig)
	if err != nil {
		return err
	}
	return r.Signal(s)
}

// inRun does what calls on a run have in common.
func (h *handler) inRun(ctx context.Context, sessionID, id string, f func(*known) error) error {
	return h.inSession(ctx, sessionID, func(se *session) error {
		k, err := se.find(id)
		if err != nil {
			return err
		}
		h.concerns(ctx, sessionID, id)
		return f(k)
	})
}

// WriteStdin implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) WriteStdin(ctx context.Context, req *connect.Request[sandboxv2.WriteStdinRequest]) (*connect.Response[sandboxv2.WriteStdinResponse], error) {
	m := req.Msg
	err := h.inRun(ctx, m.GetSessionId(), m.GetRunId(), func(r *known) error {
		switch {
		case r.over != nil:
			return connect.NewError(connect.CodeFailedPrecondition, errStdinEnded)
		case r.stdin == nil:
			return connect.NewError(connect.CodeFailedPrecondition, errors.New("the run was started without stdin_pipe"))
		}
		err := r.stdin.write(ctx, m.GetData())
		if errors.Is(err, errStdinEnded) {
			return connect.NewError(connect.CodeFailedPrecondition, err)
		}
		if err == nil && m.GetClose() {
			r.stdin.finish(io.EOF)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&sandboxv2.WriteStdinResponse{}), nil
}

// SignalRun implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) SignalRun(ctx context.Context, req *connect.Request[sandboxv2.SignalRunRequest]) (*connect.Response[sandboxv2.SignalRunResponse], error) {
	m := req.Msg
	err := h.inRun(ctx, m.GetSessionId(), m.GetRunId(), func(k *known) error {
		if k.over != nil {
			return nil
		}
		return signal(k.run, m.GetSignal())
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&sandboxv2.SignalRunResponse{}), nil
}

// ResizeRun implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) ResizeRun(ctx context.Context, req *connect.Request[sandboxv2.ResizeRunRequest]) (*connect.Response[sandboxv2.ResizeRunResponse], error) {
	m := req.Msg
	err := h.inRun(ctx, m.GetSessionId(), m.GetRunId(), func(k *known) error {
		if k.over != nil {
			return nil
		}
		return k.Resize(wire.ToTerminalSize(m.GetSize()))
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&sandboxv2.ResizeRunResponse{}), nil
}

// WaitRun implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) WaitRun(ctx context.Context, req *connect.Request[sandboxv2.WaitRunRequest]) (*connect.Response[sandboxv2.WaitRunResponse], error) {
	m := req.Msg
	out := &sandboxv2.WaitRunResponse{}
	err := h.inRun(ctx, m.GetSessionId(), m.GetRunId(), func(k *known) error {
		var err error
		out.Result, err = k.wait(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(out), nil
}

// ListRuns implements sandboxv2connect.SandboxServiceHandler.
func (h *handler) ListRuns(ctx context.Context, req *connect.Request[sandboxv2.ListRunsRequest]) (*connect.Response[sandboxv2.ListRunsResponse], error) {
	out := &sandboxv2.ListRunsResponse{}
	err := h.inSession(ctx, req.Msg.GetSessionId(), func(se *session) error {
		out.Runs = se.list()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(out), nil
}
