package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/server"
)

// A Program is what this package needs to know of the command that it is part of.
type Program struct {
	// Version is what --version and Health say.
	Version string
	// Getenv is os.Getenv. It is asked for the user's folders, and for what systemd says.
	Getenv func(string) string
	// Stdout gets what is for people and for programs that start the server; Stderr gets the log.
	Stdout, Stderr io.Writer
}

// A daemon is one server from its start to its end.
type daemon struct {
	*Program
	config *Config
	log    *slog.Logger

	state  *state
	host   *host
	server *server.Server
	watch  *watching
	ready  readiness
	doors  []*door // the last one may be the administrators'

	background sync.WaitGroup
	stop       context.CancelFunc // of what goes on in the background
}

// logger makes the log of a checked configuration.
func (p *Program) logger(c *Config) *slog.Logger {
	level, _ := c.level() // it was checked
	opts := &slog.HandlerOptions{Level: level}
	if c.LogFormat == logJSON {
		return slog.New(slog.NewJSONHandler(p.Stderr, opts))
	}
	return slog.New(slog.NewTextHandler(p.Stderr, opts))
}

// echo is how long the same signal again is no second one: timeout(1) sends it to the process and then to its group.
const echo = 100 * time.Millisecond

// gcPercent is how much the heap may grow between two collections. What a server keeps is some megabytes, and what calls need
// for a moment comes on top of that: with Go's own 100 it would collect many times a second, and each time the scripts that
// run in this process wait.
const gcPercent = 400

// serve runs a server until a signal ends it. After an error of the start nothing of it is left.
func (p *Program) serve(ctx context.Context, c *Config) error {
	signals, forget := catch()
	defer forget()
	if p.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	d := &daemon{Program: p, config: c, log: p.logger(c)}
	ctx, d.stop = context.WithCancel(ctx)
	defer d.stop()
	if err := d.start(ctx); err != nil {
		return errors.Join(err, d.close())
	}
	ended := make(chan error, len(d.doors))
	for _, door := range d.doors {
		go func() { ended <- door.serve() }()
	}
	d.announce(ctx)
	first, err := d.wait(ctx, signals, ended)
	if first == nil {
		return errors.Join(err, d.end(ctx))
	}
	began := time.Now()
	done := make(chan error, 1)
	go func() { done <- d.end(ctx) }()
	for {
		select {
		case err := <-done:
			return err
		case sig := <-signals:
			if !isReload(sig) && (sig != first || time.Since(began) > echo) {
				// Nothing is closed: the cells end with this process, and the next server finds what is left.
				return &ExitError{Code: exitCode(sig), Err: fmt.Errorf("ended at once by a second signal (%v)", sig)}
			}
		}
	}
}

// wait blocks until a signal ends the server, or a listener fails.
func (d *daemon) wait(ctx context.Context, signals <-chan os.Signal, ended <-chan error) (os.Signal, error) {
	for {
		select {
		case sig := <-signals:
			if !isReload(sig) {
				d.log.InfoContext(ctx, "ending", "signal", sig.String())
				return sig, nil
			}
			// What can change is looked at by itself. The signal is there since people and units expect it.
			d.log.InfoContext(ctx, "files of tokens, certificates, policies and TLS are read again when they change; other settings need a restart")
		case err := <-ended:
			return nil, err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// start does all that can fail.
func (d *daemon) start(ctx context.Context) error {
	a, err := openAccess(d.config, d.log)
	if err != nil {
		return err
	}
	for _, w := range a.warnings {
		d.log.WarnContext(ctx, w)
	}
	if d.state, err = openState(d.config.StateDir); err != nil {
		return err
	}
	// The engine makes its directories in os.TempDir.
	if err := os.Setenv("TMPDIR", d.state.work()); err != nil {
		return fmt.Errorf("set TMPDIR: %w", err)
	}
	left, err := engine.FindLeftovers(d.state.work())
	if err != nil {
		return err
	}
	if err := tryBackends(ctx, d.config.Backend, d.Stdout, d.Stderr); err != nil {
		return err
	}
	listeners, err := listen(ctx, d.config, d.Getenv)
	if err != nil {
		return err
	}
	if err := d.open(ctx, a, listeners); err != nil {
		closeAll(listeners)
		return err
	}
	d.background.Go(func() { d.sweep(ctx, left) })
	d.background.Go(func() { d.prepare(ctx) })
	return nil
}

// open makes the server behind the listeners.
func (d *daemon) open(ctx context.Context, a *access, listeners []net.Listener) error {
	var err error
	if d.host, err = newHost(d.config.Backend, d.state.cache(), d.log); err != nil {
		return err
	}
	if d.watch, err = newWatching(ctx, d.config, d.Version, d.log); err != nil {
		return err
	}
	d.server, err = server.New(d.host, d.watch.options(&server.Options{
		Version: d.Version, Backends: d.config.Backend, Authenticator: a.anyone, Limits: d.config.limits(),
		IdleTimeout: d.config.IdleTimeout, Lifetime: d.config.MaxLifetime, Logger: d.log,
	}))
	if err != nil {
		return err
	}
	if err := d.watch.watch(d.server, d.host); err != nil {
		return err
	}
	all, err := doors(d.config, d.server, a, d.watch, listeners, d.log)
	if err != nil {
		return err
	}
	admin, err := adminDoor(ctx, d.config, d.server, &d.ready, d.watch, d.log)
	if err != nil {
		return err
	}
	if d.doors = all; admin != nil {
		d.doors = append(d.doors, admin)
	}
	return nil
}

// announce says that clients may come.
func (d *daemon) announce(ctx context.Context) {
	for i, door := range d.doors {
		if d.config.AdminListen != "" && i == len(d.doors)-1 {
			fmt.Fprintf(d.Stdout, "administration on %s\n", door)
			continue
		}
		fmt.Fprintf(d.Stdout, "listening on %s\n", door)
	}
	d.tellSystemd(ctx, "READY=1")
}

func (d *daemon) tellSystemd(ctx context.Context, state string) {
	if err := notify(ctx, d.Getenv, state); err != nil {
		d.log.WarnContext(ctx, "systemd not told", "state", state, "err", err)
	}
}

// sweep removes what a killed server has left.
func (d *daemon) sweep(ctx context.Context, left *engine.Leftovers) {
	if left.Len() == 0 {
		return
	}
	n, err := left.Remove(ctx)
	d.log.InfoContext(ctx, "removed what a killed server has left", "removed", n, "found", left.Len())
	if err != nil && ctx.Err() == nil {
		d.log.WarnContext(ctx, "something of a killed server is still there", "dir", d.state.work(), "err", err)
	}
}

// prepare gets the interpreter ready, so that the first run does not wait for it.
func (d *daemon) prepare(ctx context.Context) {
	began := time.Now()
	err := d.host.wasm.Prepare(ctx)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		d.log.ErrorContext(ctx, "interpreter not ready: Python runs of the wasm tier will fail", "err", err)
		return
	}
	d.ready.interpreter.Store(true)
	d.log.InfoContext(ctx, "interpreter ready", "took", time.Since(began).Round(time.Millisecond))
}

// lastWords is how long streams may take for their last events once all runs have ended.
const lastWords = 5 * time.Second

// end lets the runs under way end, then closes all sessions, and then the connections: so clients get the result of a run, and
// of one that is ended here as well.
func (d *daemon) end(ctx context.Context) error {
	d.tellSystemd(ctx, "STOPPING=1")
	drain, cancel := context.WithTimeoutCause(ctx, d.config.DrainTimeout, errors.New("the time for it is over"))
	defer cancel()
	if err := d.server.Drain(drain); err != nil {
		d.log.WarnContext(ctx, "runs are ended that are under way", "err", err)
	}
	err := d.server.Close()
	words, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	var closing sync.WaitGroup
	for _, door := range d.doors {
		closing.Go(func() {
			if door.http.Shutdown(words) != nil {
				_ = door.http.Close() // it cuts what did not end
			}
		})
	}
	closing.Wait()
	return errors.Join(err, d.close())
}

// close gives back what the process has.
func (d *daemon) close() error {
	d.stop()
	d.background.Wait()
	var err error
	if d.server != nil {
		err = d.server.Close()
	}
	if d.host != nil {
		err = errors.Join(err, d.host.Close())
	}
	if watchErr := d.watch.close(); watchErr != nil { // a collector that is not there is no fault of the server
		d.log.Warn("telemetry not sent", "err", watchErr)
	}
	if d.state != nil {
		err = errors.Join(err, d.state.close())
	}
	return err
}
