// Command sandbox-server offers sandboxes to other programs, over Connect, gRPC and gRPC-Web.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/server"
)

type host struct{}

func (host) Open(ctx context.Context, backend string, opts *engine.Options) (*engine.Session, error) {
	return sandbar.OpenWith(ctx, sandbar.Backend(backend), opts)
}

func (host) ReadSnapshot(ctx context.Context, r io.Reader, limit int64) (*engine.Snapshot, error) {
	return sandbar.ReadSnapshot(ctx, r, limit)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox-server:", err)
		os.Exit(1)
	}
}

func run() error {
	listen := flag.String("listen", "127.0.0.1:8700", "address")
	backends := flag.String("backend", "bubblewrap", "backends, the default first")
	owner := flag.Bool("owner", false, "callers may do what the user of the server may")
	flag.Parse()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	opts := &server.Options{Version: "dev", Backends: strings.Split(*backends, ","), Logger: log}
	if *owner {
		opts.Authenticator = server.Anonymous(&server.Principal{Name: "local", Admin: true, Policy: server.OwnerPolicy()})
	}
	s, err := server.New(host{}, opts)
	if err != nil {
		return err
	}
	handler, err := s.Handler(nil)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := server.Listen(ctx, *listen)
	if err != nil {
		return err
	}
	h := server.NewHTTP(handler, log)
	go func() {
		<-ctx.Done()
		_ = s.Close()
		_ = h.Close()
	}()
	fmt.Println("listening on", l.Addr())
	if err := h.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}
