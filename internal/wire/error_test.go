package wire

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"

	"github.com/sandbar-dev/sandbar/engine"
	sandboxv2 "github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2"
	"github.com/sandbar-dev/sandbar/proto/gen/sandbox/v2/sandboxv2connect"
)

// sentinels are the errors of the contract by their names, with one that a session returns for each.
var sentinels = map[string]struct{ is, example error }{
	"ErrInvalid":         {engine.ErrInvalid, &engine.InvalidError{Field: "Cwd", Problem: `"x": no such file`}},
	"ErrNotAvailable":    {engine.ErrNotAvailable, fmt.Errorf("run: %w: no user namespaces", engine.ErrNotAvailable)},
	"ErrNotEnforceable":  {engine.ErrNotEnforceable, fmt.Errorf("open: %w: Disk", engine.ErrNotEnforceable)},
	"ErrClosed":          {engine.ErrClosed, engine.ErrClosed},
	"ErrNotStarted":      {engine.ErrNotStarted, fmt.Errorf("run: %w: no memory", engine.ErrNotStarted)},
	"ErrLost":            {engine.ErrLost, fmt.Errorf("%w: the init is gone", engine.ErrLost)},
	"ErrTooLarge":        {engine.ErrTooLarge, fmt.Errorf("get: %w", &engine.TooLargeError{Path: "f", Size: 9, Max: 8})},
	"ErrNoSpace":         {engine.ErrNoSpace, fmt.Errorf("put f: %w", engine.ErrNoSpace)},
	"ErrNotExist":        {engine.ErrNotExist, fmt.Errorf("stat f: %w", engine.ErrNotExist)},
	"ErrIsDirectory":     {engine.ErrIsDirectory, engine.ErrIsDirectory},
	"ErrNotDirectory":    {engine.ErrNotDirectory, engine.ErrNotDirectory},
	"ErrNotRegular":      {engine.ErrNotRegular, engine.ErrNotRegular},
	"ErrEscapes":         {engine.ErrEscapes, engine.ErrEscapes},
	"ErrNeedsNative":     {engine.ErrNeedsNative, &engine.NeedsNativeError{Module: "threading.Thread", Imported: true, Line: 3, Reason: "no threads"}},
	"ErrSnapshot":        {engine.ErrSnapshot, engine.ErrSnapshot},
	"ErrNoMark":          {engine.ErrNoMark, engine.ErrNoMark},
	"ErrBusy":            {engine.ErrBusy, engine.ErrBusy},
	"ErrConflict":        {engine.ErrConflict, fmt.Errorf("commit: %w", &engine.ConflictError{Paths: []string{"a", "b\xff"}})},
	"ErrDenied":          {engine.ErrDenied, fmt.Errorf("%w: GPU", engine.ErrDenied)},
	"ErrUnauthenticated": {engine.ErrUnauthenticated, engine.ErrUnauthenticated},
	"ErrLimit":           {engine.ErrLimit, &engine.LimitError{What: "runs", Max: 8, OfPrincipal: true}},
	"ErrNoSession":       {engine.ErrNoSession, engine.ErrNoSession},
	"ErrDraining":        {engine.ErrDraining, engine.ErrDraining},
}

// stay are sentinels that no call over the wire returns.
var stay = map[string]string{
	"ErrInterrupted": "is between Session and drivers",
	"ErrExit":        "is made by RunCode, at the client, of a Result",
}

// TestSentinels: an error that is added to package engine is in the table, and in the test above.
func TestSentinels(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../engine/errors.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, decl := range file.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			for _, id := range spec.(*ast.ValueSpec).Names {
				if strings.HasPrefix(id.Name, "Err") {
					names = append(names, id.Name)
				}
			}
		}
	}
	if len(names) != len(sentinels)+len(stay) {
		t.Errorf("there are %d errors, and %d here", len(names), len(sentinels)+len(stay))
	}
	for _, name := range names {
		s, travels := sentinels[name]
		if travels == (stay[name] != "") {
			t.Errorf("%s: is it to travel? Add it to sentinels or to stay", name)
		}
		if travels && len(kindsOf(s.is)) != 1 {
			t.Errorf("%s is %v", name, kindsOf(s.is))
		}
	}
}

func TestKinds_Order(t *testing.T) {
	var want []sandboxv2.ErrorKind
	for n := range sandboxv2.ErrorKind_name {
		if n != 0 {
			want = append(want, sandboxv2.ErrorKind(n))
		}
	}
	slices.Sort(want)
	var got []sandboxv2.ErrorKind
	for _, k := range kinds {
		got = append(got, k.kind)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table has %v, want %v", got, want)
	}
}

// server is a real one that fails each call with what its function returns.
type server struct {
	sandboxv2connect.UnimplementedSandboxServiceHandler
	err func() error
}

func (s *server) CloseSession(context.Context, *connect.Request[sandboxv2.CloseSessionRequest]) (*connect.Response[sandboxv2.CloseSessionResponse], error) {
	return nil, s.err()
}

func (s *server) Run(context.Context, *connect.Request[sandboxv2.RunRequest], *connect.ServerStream[sandboxv2.RunResponse]) error {
	return s.err()
}

// overWire calls f for what a client gets of err, by each protocol, from a unary call and from a stream.
func overWire(t *testing.T, err func() error, f func(how string, got error)) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(sandboxv2connect.NewSandboxServiceHandler(&server{err: err}))
	s := httptest.NewUnstartedServer(mux)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	for how, opts := range map[string][]connect.ClientOption{
		"connect": nil, "json": {connect.WithProtoJSON()}, "grpc": {connect.WithGRPC()}, "grpc-web": {connect.WithGRPCWeb()},
	} {
		c := sandboxv2connect.NewSandboxServiceClient(s.Client(), s.URL, opts...)
		_, err := c.CloseSession(t.Context(), connect.NewRequest(&sandboxv2.CloseSessionRequest{}))
		f(how, err)
		stream, err := c.Run(t.Context(), connect.NewRequest(&sandboxv2.RunRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		for stream.Receive() {
			t.Error("a message")
		}
		f(how+", stream", stream.Err())
		stream.Close()
	}
}

// wantSame wants a remote error to be what the local one is.
func wantSame(t *testing.T, how string, local, remote error) {
	t.Helper()
	if remote == nil || remote.Error() != strings.ToValidUTF8(local.Error(), "\uFFFD") {
		t.Errorf("%s: %v, want %v", how, remote, local)
	}
	for name, s := range sentinels {
		if errors.Is(local, s.is) != errors.Is(remote, s.is) {
			t.Errorf("%s: %v: is %s: %v", how, local, name, errors.Is(remote, s.is))
		}
	}
	for code, ended := range map[connect.Code]error{connect.CodeCanceled: context.Canceled, connect.CodeDeadlineExceeded: context.DeadlineExceeded} {
		if errors.Is(remote, ended) != (Error(local).Code() == code) {
			t.Errorf("%s: %v is %v: %v", how, remote, ended, errors.Is(remote, ended))
		}
	}
	sameTyped[*engine.InvalidError](t, how, local, remote)
	sameTyped[*engine.TooLargeError](t, how, local, remote)
	sameTyped[*engine.NeedsNativeError](t, how, local, remote)
	sameTyped[*engine.ConflictError](t, how, local, remote)
	sameTyped[*engine.LimitError](t, how, local, remote)
}

func sameTyped[E error](t *testing.T, how string, local, remote error) {
	t.Helper()
	var want, got E
	errors.As(local, &want)
	errors.As(remote, &got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s (-local +remote):\n%s", how, reflect.TypeFor[E](), diff)
	}
}

func TestError_Identity(t *testing.T) {
	for name, s := range sentinels {
		t.Run(name, func(t *testing.T) {
			overWire(t, func() error { return Error(s.example) }, func(how string, got error) {
				wantSame(t, how, s.example, FromError(got))
				if code := connect.CodeOf(FromError(got)); code == connect.CodeUnknown {
					t.Errorf("%s: the code is lost", how)
				}
			})
		})
	}
}

func TestError_Several(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code connect.Code
	}{
		{fmt.Errorf("run: %w: %w: no cgroup", engine.ErrNotStarted, engine.ErrNotAvailable), connect.CodeFailedPrecondition},
		{fmt.Errorf("run: %w: %w: %w", engine.ErrClosed, engine.ErrNotStarted, context.Canceled), connect.CodeFailedPrecondition},
		{fmt.Errorf("run: %w: %w", engine.ErrNotStarted, context.DeadlineExceeded), connect.CodeDeadlineExceeded},
		{fmt.Errorf("run: %w: %w", engine.ErrNotStarted, context.Canceled), connect.CodeCanceled},
		{fmt.Errorf("list: %w", context.Canceled), connect.CodeCanceled},
		{fmt.Errorf("run: %w: %w", engine.ErrNotStarted, engine.ErrDraining), connect.CodeUnavailable},
		{errors.Join(&engine.InvalidError{Field: "Cwd", Problem: "is bad"}, &engine.LimitError{What: "queue", Max: 1}), connect.CodeInvalidArgument},
		{errors.Join(engine.ErrDraining, engine.ErrLost), connect.CodeDataLoss},
		{fmt.Errorf("%w: %w: %w", engine.ErrLost, engine.ErrClosed, engine.ErrNotAvailable), connect.CodeDataLoss},
		{errors.Join(engine.ErrDraining, engine.ErrClosed), connect.CodeFailedPrecondition},
		{errors.Join(engine.ErrInvalid, engine.ErrDenied), connect.CodePermissionDenied},
	} {
		overWire(t, func() error { return Error(tt.err) }, func(how string, got error) {
			wantSame(t, how, tt.err, FromError(got))
			if code := connect.CodeOf(got); code != tt.code {
				t.Errorf("%s: %v has code %v, want %v", how, tt.err, code, tt.code)
			}
		})
	}
}

// TestError_Unavailable: what says that a retry is right says it only of a server that has done nothing.
func TestError_Unavailable(t *testing.T) {
	for name, s := range sentinels {
		if code := Error(s.example).Code(); (code == connect.CodeUnavailable) != (name == "ErrDraining") {
			t.Errorf("%s has code %v", name, code)
		}
	}
}

// TestError_Internal: the text of a failure of the host's own stays there.
func TestError_Internal(t *testing.T) {
	for _, err := range []error{
		errors.New("dial /run/secret.sock: connection refused"),
		&fs.PathError{Op: "open", Path: "/var/lib/secret", Err: fs.ErrPermission},
		io.ErrUnexpectedEOF,
		engine.ErrInterrupted,
		connect.NewWireError(connect.CodeNotFound, errors.New("said by secret.example")),
	} {
		overWire(t, func() error { return Error(err) }, func(how string, got error) {
			remote := FromError(got)
			if connect.CodeOf(remote) != connect.CodeInternal || remote.Error() != "internal error" {
				t.Errorf("%s: %v became %v", how, err, remote)
			}
			wantSame(t, how, errors.New("internal error"), remote)
		})
	}
}

// TestError_HostPaths: an error of the contract may have one of the operating system in it.
func TestError_HostPaths(t *testing.T) {
	inner := errors.Join(
		&fs.PathError{Op: "mkdir", Path: "/var/lib/secret/run-1", Err: fs.ErrPermission},
		fmt.Errorf("again: %w", &os.LinkError{Op: "rename", Old: "/srv/secret/a", New: "/srv/secret/b", Err: fs.ErrExist}),
		&exec.Error{Name: "/opt/secret/bwrap", Err: exec.ErrNotFound},
		&fs.PathError{Op: "open", Path: engine.WorkDir + "/main.py", Err: fs.ErrNotExist},
		&fs.PathError{Op: "open", Path: "relative/f", Err: fs.ErrNotExist},
		&fs.PathError{Op: "open", Path: "/", Err: fs.ErrPermission},
	)
	got := Error(fmt.Errorf("run: %w: %w", engine.ErrNotStarted, inner)).Message()
	if strings.Contains(got, "secret") {
		t.Errorf("%s", got)
	}
	for _, want := range []string{"mkdir .../run-1: permission denied", "rename .../a .../b", "/bwrap", engine.WorkDir + "/main.py", "relative/f", "open /: "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
}

func TestError_Bounds(t *testing.T) {
	paths := make([]string, 5000)
	for i := range paths {
		paths[i] = fmt.Sprintf("f%05d\xff", i)
	}
	long := strings.Repeat("\u00e9\xff", 1<<20)
	for _, tt := range []struct {
		err   error
		paths int
	}{
		{&engine.ConflictError{Paths: paths}, 1000},
		{&engine.ConflictError{Paths: []string{strings.Repeat("x", 4096), strings.Repeat("y", 1<<20), "z"}}, 1},
		{&engine.InvalidError{Field: long, Problem: long}, 0},
		{&engine.TooLargeError{Path: long}, 0},
		{&engine.NeedsNativeError{Module: long, Reason: long, Line: math.MaxInt}, 0},
		{&engine.LimitError{What: long}, 0},
	} {
		overWire(t, func() error { return Error(tt.err) }, func(how string, got error) {
			remote := FromError(got)
			if text := remote.Error(); len(text) > 4096 || !utf8.ValidString(text) {
				t.Errorf("%s: %T has a text of %d bytes, UTF-8 is %v", how, tt.err, len(text), utf8.ValidString(text))
			}
			if len(kindsOf(tt.err)) != 1 || !slices.Equal(kindsOf(tt.err), kindsOf(remote)) {
				t.Errorf("%s: %T became %v", how, tt.err, kindsOf(remote))
			}
			var conflict *engine.ConflictError
			if errors.As(remote, &conflict) && len(conflict.Paths) != tt.paths {
				t.Errorf("%s: %d paths, want %d", how, len(conflict.Paths), tt.paths)
			}
		})
	}
}

// TestError_MadeByConnect: what package connect or a gate has made keeps its code.
func TestError_MadeByConnect(t *testing.T) {
	gate := connect.NewError(connect.CodeUnauthenticated, errors.New("no credentials"))
	detail, err := connect.NewErrorDetail(&sandboxv2.ErrorDetail{Kinds: []sandboxv2.ErrorKind{sandboxv2.ErrorKind_ERROR_KIND_UNAUTHENTICATED}})
	if err != nil {
		t.Fatal(err)
	}
	gate.AddDetail(detail)
	if got := Error(fmt.Errorf("gate: %w", gate)); got != gate {
		t.Errorf("%v", got)
	}
	limit := fmt.Errorf("put: %w", connect.NewError(connect.CodeResourceExhausted, errors.New("message is larger than 16 bytes")))
	got := Error(limit)
	if got.Code() != connect.CodeResourceExhausted || got.Message() != "message is larger than 16 bytes" || detailOf(got) == nil {
		t.Errorf("%v, detail %v", got, detailOf(got))
	}
	invalid := fmt.Errorf("%w: %w", &engine.InvalidError{Field: "r", Problem: "broke"}, connect.NewError(connect.CodeCanceled, nil))
	if got := Error(invalid); got.Code() != connect.CodeInvalidArgument {
		t.Errorf("%v", got)
	}
	if got := Error(nil); got != nil {
		t.Errorf("%v", got)
	}
}

// TestFromError_NotOurs: what is not a server's answer is not made one.
func TestFromError_NotOurs(t *testing.T) {
	for _, err := range []error{
		nil,
		io.ErrUnexpectedEOF,
		connect.NewError(connect.CodeUnavailable, io.ErrUnexpectedEOF),
		connect.NewWireError(connect.CodeUnavailable, errors.New("a proxy says no")),
		connect.NewError(connect.CodeCanceled, errors.New("stream reset")),
		connect.NewError(connect.CodeDeadlineExceeded, context.DeadlineExceeded),
	} {
		if got := FromError(err); got != err { //nolint:errorlint // the same value is meant
			t.Errorf("%v became %v", err, got)
		}
	}
	got := FromError(connect.NewWireError(connect.CodeDeadlineExceeded, errors.New("too late")))
	if !errors.Is(got, context.DeadlineExceeded) || connect.CodeOf(got) != connect.CodeDeadlineExceeded {
		t.Errorf("%v", got)
	}
}

// TestFromError_Newer: a server may know more kinds than this client.
func TestFromError_Newer(t *testing.T) {
	err := connect.NewWireError(connect.CodeInternal, errors.New("new"))
	detail, e := connect.NewErrorDetail(&sandboxv2.ErrorDetail{Kinds: []sandboxv2.ErrorKind{999, sandboxv2.ErrorKind_ERROR_KIND_BUSY, -1, 0}})
	if e != nil {
		t.Fatal(e)
	}
	err.AddDetail(detail)
	if got := FromError(err); !errors.Is(got, engine.ErrBusy) || got.Error() != "new" {
		t.Errorf("%v", got)
	}
}
