package netpolicy

import "testing"

func TestMode_Within(t *testing.T) {
	for _, tt := range []struct {
		mode, ceiling Mode
		want          bool
	}{
		{Blocked, Blocked, true},
		{Blocked, Open, true},
		{Allowlist, Open, true},
		{Open, Open, true},
		{Open, Allowlist, false},
		{Open, Blocked, false},
		{Allowlist, Blocked, false},
	} {
		if got := tt.mode.Within(tt.ceiling); got != tt.want {
			t.Errorf("%s within %s = %v, want %v", tt.mode, tt.ceiling, got, tt.want)
		}
	}
}

func TestMode_Known(t *testing.T) {
	for _, m := range Modes() {
		if !m.Known() {
			t.Errorf("%s is not known", m)
		}
	}
	for _, m := range []Mode{"", "Open", "none", "block"} {
		if m.Known() {
			t.Errorf("%q is known", m)
		}
	}
}
