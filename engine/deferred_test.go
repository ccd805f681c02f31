package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// askedDriver is a fake of the native tier that counts what it is asked, and can be asked for all.
type askedDriver struct {
	*fakeDriver
	infos, opens, tidied, makes atomic.Int32
	makeErr                     error
}

func newAsked() *askedDriver { return &askedDriver{fakeDriver: newNative(), makeErr: ErrNotAvailable} }

func (d *askedDriver) Info() DriverInfo {
	d.infos.Add(1)
	return d.fakeDriver.Info()
}

func (d *askedDriver) OpenSession(ctx context.Context, spec *SessionSpec) (DriverSession, error) {
	d.opens.Add(1)
	return d.fakeDriver.OpenSession(ctx, spec)
}

func (d *askedDriver) TidyUp(string, string) error {
	d.tidied.Add(1)
	return nil
}

func (d *askedDriver) MakeWorkspace(context.Context, Limits) (Workspace, error) {
	d.makes.Add(1)
	return nil, d.makeErr
}

func (d *askedDriver) want(t *testing.T, when string, opens, tidied, makes int32) {
	t.Helper()
	if o, c, m := d.opens.Load(), d.tidied.Load(), d.makes.Load(); o != opens || c != tidied || m != makes {
		t.Errorf("%s: opened %d, tidied %d, made %d; want %d, %d, %d", when, o, c, m, opens, tidied, makes)
	}
}

var shell = &RunOptions{Type: Shell}

func TestDeferred_FirstRunOpens(t *testing.T) {
	var log bytes.Buffer
	d := newAsked()
	d.info.Warnings = []string{"no walls"}
	s := openTiers(t, &Options{Limits: Limits{Memory: 1 << 30}, Logger: slog.New(slog.NewTextHandler(&log, nil))}, newFake(basics), Deferred(d))
	exec(t, s, "hello", nil)
	d.want(t, "without a run", 0, 0, 0)
	if n := d.infos.Load(); n != 0 || log.Len() > 0 {
		t.Errorf("asked %d times what it enforces; log %q", n, &log)
	}
	for range 2 {
		if r := exec(t, s, "hello", shell).Result; r.Tier != TierNative {
			t.Errorf("it ran in %s", r.Tier)
		}
		d.want(t, "after a run", 1, 1, 0)
	}
	if got := log.String(); strings.Count(got, "no walls") != 1 {
		t.Errorf("log %q", got)
	}
	if d.spec.HostDir != s.Info().HostDir || d.spec.Limits.Memory != 1<<30 {
		t.Errorf("session %+v", d.spec)
	}
	if err := s.Close(); err != nil || d.sessions != 0 {
		t.Errorf("Close: %v, %d sessions are open", err, d.sessions)
	}
}

func TestDeferred_NeverUsed(t *testing.T) {
	d := newAsked()
	s := openTiers(t, nil, Deferred(d), newFake(basics))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	d.want(t, "closed", 0, 0, 0)
	_, err := s.Run(t.Context(), "hello", shell)
	wantErr(t, "Run after Close", err, ErrClosed)
	d.want(t, "after that", 0, 0, 0)
}

func TestDeferred_Enforceable(t *testing.T) {
	for _, bestEffort := range []bool{false, true} {
		d := newAsked()
		d.info.Unenforced = []string{"Memory"}
		s := openTiers(t, &Options{Limits: Limits{Memory: 1 << 30}, BestEffort: bestEffort}, newFake(basics), Deferred(d))
		exec(t, s, "hello", nil)
		want := map[bool][]string{true: {"Memory"}}[bestEffort]
		if got := s.Info().Unenforced[TierNative]; !slices.Equal(got, want) {
			t.Errorf("best effort %v: Unenforced %v", bestEffort, got)
		}
		if bestEffort {
			exec(t, s, "hello", shell)
			continue
		}
		_, err := s.Run(t.Context(), "hello", shell)
		wantErr(t, "Run", err, ErrNotEnforceable)
		wantErr(t, "Run", err, ErrNotStarted)
		if err == nil || !strings.Contains(err.Error(), "Limits.Memory in the native tier") {
			t.Errorf("error %v", err)
		}
		if d.sessions != 0 {
			t.Errorf("%d sessions are open", d.sessions)
		}
	}
}

// An error is of the run; the next one tries again.
func TestDeferred_Again(t *testing.T) {
	d := newAsked()
	d.openErr = fmt.Errorf("%w: bwrap is not installed", ErrNotAvailable)
	s := openTiers(t, nil, newFake(basics), Deferred(d))
	_, err := s.Run(t.Context(), "hello", shell)
	wantErr(t, "Run", err, ErrNotAvailable)
	wantErr(t, "Run", err, ErrNotStarted)
	d.openErr = nil
	exec(t, s, "hello", shell)
	d.want(t, "after two runs", 2, 2, 0)
}

func TestDeferred_Workspace(t *testing.T) {
	for name, makeErr := range map[string]error{"not available": ErrNotAvailable, "not enforceable": ErrNotEnforceable} {
		d := newAsked()
		d.makeErr = makeErr
		s := openTiers(t, &Options{Limits: Limits{Disk: 1000}}, newFake(basics), Deferred(d))
		d.want(t, name, 0, 1, 1)
		exec(t, s, "hello", nil)
		must(t, s.PutBytes(t.Context(), "f", make([]byte, 900), nil))
		wantErr(t, "PutBytes", s.PutBytes(t.Context(), "g", make([]byte, 900), nil), ErrNoSpace)
		_, err := s.Run(t.Context(), "hello", shell)
		wantErr(t, name, err, makeErr)
		d.want(t, name, 0, 1, 1)
	}
	d := newAsked() // what is not deferred says it in Open
	d.makeErr = ErrNotEnforceable
	_, err := Open(t.Context(), []Driver{newFake(basics), d}, &Options{Limits: Limits{Disk: 1000}})
	wantErr(t, "Open", err, ErrNotEnforceable)
}

func TestDeferred_Drivers(t *testing.T) {
	_, err := Open(t.Context(), []Driver{Deferred(nil)}, nil)
	wantField(t, "nil", err, "drivers[0]")
	_, err = Open(t.Context(), []Driver{newNative(), Deferred(newAsked())}, nil)
	wantField(t, "two of a tier", err, "drivers[1]")
	d := newAsked()
	s := openTiers(t, nil, Deferred(Deferred(d)))
	exec(t, s, "hello", nil) // the only tier takes what there is
	d.want(t, "twice", 1, 1, 0)
}

// First runs that come together open the tier once, and Close closes it, whatever it meets.
func TestDeferred_Hammer(t *testing.T) {
	for range 20 {
		d := newAsked()
		s := openTiers(t, nil, newFake(basics), Deferred(d))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				_, err := s.Exec(context.Background(), "hello", shell)
				if err != nil && !errors.Is(err, ErrClosed) {
					t.Errorf("Exec: %v", err)
				}
			})
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		wg.Wait()
		if n := d.opens.Load(); n > 1 || d.sessions != 0 {
			t.Errorf("opened %d times, %d sessions are open", n, d.sessions)
		}
	}
}
