package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/netpolicy"
)

func TestOpen_Network(t *testing.T) {
	for _, tt := range []struct {
		mode, want netpolicy.Mode
		err        error
	}{
		{"", netpolicy.Blocked, nil},
		{netpolicy.Blocked, netpolicy.Blocked, nil},
		{netpolicy.Open, netpolicy.Open, nil},
		{netpolicy.Allowlist, "", ErrNotAvailable},
		{"Open", "", ErrInvalid},
		{"none", "", ErrInvalid},
		{" open", "", ErrInvalid},
		{netpolicy.Mode(strings.Repeat("n", 1<<20)), "", ErrInvalid},
	} {
		d := newFake(basics)
		s, err := Open(t.Context(), []Driver{d}, &Options{Network: tt.mode})
		if tt.err != nil {
			wantErr(t, "Open", err, tt.err)
			if errors.Is(tt.err, ErrInvalid) {
				wantField(t, "Open", err, "Network")
			}
			if err != nil && len(err.Error()) > 500 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			if d.spec != nil {
				t.Errorf("%.20q: the driver was asked", tt.mode)
			}
			continue
		}
		if err != nil {
			t.Errorf("Open with %q: %v", tt.mode, err)
			continue
		}
		if got := s.Info().Network; got != tt.want || d.spec.Network != tt.want {
			t.Errorf("%q: Info says %q, the driver was told %q, want %q", tt.mode, got, d.spec.Network, tt.want)
		}
		_ = s.Close()
	}
}

func TestSession_NetworkOfARun(t *testing.T) {
	for _, tt := range []struct {
		session, run, want netpolicy.Mode
		err                error
	}{
		{"", "", netpolicy.Blocked, nil},
		{"", netpolicy.Blocked, netpolicy.Blocked, nil},
		{"", netpolicy.Open, "", ErrInvalid},
		{netpolicy.Blocked, netpolicy.Open, "", ErrInvalid},
		{netpolicy.Open, "", netpolicy.Open, nil},
		{netpolicy.Open, netpolicy.Open, netpolicy.Open, nil},
		{netpolicy.Open, netpolicy.Blocked, netpolicy.Blocked, nil},
		{netpolicy.Open, "odd", "", ErrInvalid},
		{netpolicy.Open, netpolicy.Allowlist, "", ErrNotAvailable},
		{netpolicy.Blocked, netpolicy.Allowlist, "", ErrNotAvailable},
	} {
		s, d := open(t, &Options{Network: tt.session})
		out, err := s.Exec(t.Context(), "asked", &RunOptions{Network: tt.run})
		if tt.err != nil {
			wantErr(t, "Exec", err, tt.err)
			if errors.Is(tt.err, ErrInvalid) {
				wantField(t, "Exec", err, "Network")
			}
			continue
		}
		if err != nil {
			t.Errorf("a run with %q in a session with %q: %v", tt.run, tt.session, err)
			continue
		}
		if got, _, _ := strings.Cut(string(out.Stdout), " "); got != string(tt.want) {
			t.Errorf("a run with %q in a session with %q has %q, want %q", tt.run, d.spec.Network, got, tt.want)
		}
	}
}

func TestSession_Background(t *testing.T) {
	s, _ := open(t, nil)
	for _, background := range []bool{false, true} {
		out := exec(t, s, "asked", &RunOptions{Background: background})
		if got := strings.Contains(string(out.Stdout), " true "); got != background {
			t.Errorf("Background %v: the driver gets %q", background, out.Stdout)
		}
	}
}
