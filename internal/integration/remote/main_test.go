package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar"
	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/internal/testserver"
	"github.com/sandbar-dev/sandbar/server"
)

// The parts of a test that need a process of their own: the first argument of this program names one.
var children = map[string]func(args []string) error{"server": serverChild, "client": clientChild}

// TestMain runs the tests, or does the part of one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if child := children[os.Args[1]]; child != nil {
			if err := child(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, os.Args[1]+":", err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	code := m.Run()
	testserver.Remove()
	os.Exit(code)
}

// A setup is what a server process is told. It has what the flags of the program have, and the times that those do not shorten.
// The zero value is a server on a loopback port with all backends, whose callers may do what its user may.
type setup struct {
	Listen   []string // none: a port of 127.0.0.1
	Backends []string // none: userns, bubblewrap
	Tokens   string   // a file; empty: no credentials
	Options  times
	Limits   server.Limits
	Detached int
}

// times are those of server.Options and http.Server. Zero is the default.
type times struct {
	Idle, Stall, Message, Silence, Header, Ping time.Duration
}

// serverChild is the process of a server: package server as a program has it.
func serverChild(args []string) error {
	var c setup
	if err := json.Unmarshal([]byte(args[0]), &c); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	s, handler, err := c.open(log)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var all sync.WaitGroup
	var ends []io.Closer
	for _, address := range c.Listen {
		l, err := server.Listen(ctx, address)
		if err != nil {
			return err
		}
		h := c.http(handler, log)
		ends = append(ends, h)
		all.Go(func() { _ = h.Serve(l) })
		say(urlOf(l.Addr()))
	}
	say("ready")
	<-ctx.Done()
	err = s.Close()
	for _, h := range ends {
		err = errors.Join(err, h.Close())
	}
	all.Wait()
	return err
}

// open makes the server and its handler.
func (c *setup) open(log *slog.Logger) (*server.Server, http.Handler, error) {
	c.fill()
	owner := server.OwnerPolicy()
	opts := &server.Options{
		Version: "test", Backends: c.Backends, Logger: log, Limits: c.Limits, DetachedOutput: c.Detached,
		IdleTimeout: c.Options.Idle, StallTimeout: c.Options.Stall, MessageTimeout: c.Options.Message, SilenceTimeout: c.Options.Silence,
		Authenticator: server.Anonymous(&server.Principal{Name: "local", Admin: true, Policy: owner}),
	}
	if c.Tokens != "" {
		tokens, err := server.OpenTokens(c.Tokens, &server.FileOptions{Policies: server.OnePolicy(owner), Logger: log})
		if err != nil {
			return nil, nil, err
		}
		opts.Authenticator = tokens
	}
	s, err := server.New(host{}, opts)
	if err != nil {
		return nil, nil, err
	}
	handler, err := s.Handler(&server.HandlerOptions{Browser: &server.BrowserOptions{Hosts: []string{"10.213.7.1"}}})
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, handler, nil
}

func (c *setup) fill() {
	if len(c.Listen) == 0 {
		c.Listen = []string{"127.0.0.1:0"}
	}
	if len(c.Backends) == 0 {
		c.Backends = []string{string(sandbar.Userns), string(sandbar.Bubblewrap)}
	}
}

func (c *setup) http(handler http.Handler, log *slog.Logger) *http.Server {
	h := server.NewHTTP(handler, log)
	if c.Options.Header > 0 {
		h.ReadHeaderTimeout = c.Options.Header
	}
	if c.Options.Ping > 0 {
		h.HTTP2.SendPingTimeout, h.HTTP2.PingTimeout = c.Options.Ping, c.Options.Ping
	}
	return h
}

// say tells the test something that it waits for.
func say(words ...string) { _, _ = io.WriteString(os.Stdout, strings.Join(words, " ")+"\n") }

func urlOf(a net.Addr) string {
	if a.Network() == "unix" {
		return "unix://" + a.String()
	}
	return "http://" + a.String()
}

// host opens sessions as the program does.
type host struct{}

func (host) Open(ctx context.Context, backend string, opts *engine.Options) (*engine.Session, error) {
	return sandbar.OpenWith(ctx, sandbar.Backend(backend), opts)
}

func (host) ReadSnapshot(ctx context.Context, r io.Reader, limit int64) (*engine.Snapshot, error) {
	return sandbar.ReadSnapshot(ctx, r, limit)
}
