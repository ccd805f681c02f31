package main

import (
	"testing"
	"time"

	"github.com/sandbar-dev/sandbar/engine"
)

func TestParseSize(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int64 // 0: an error
	}{
		{"1", 1},
		{"134217728", 128 << 20},
		{"1Ki", 1 << 10},
		{"64Mi", 64 << 20},
		{"4Gi", 4 << 30},
		{"1K", 1000},
		{"512M", 512e6},
		{"1G", 1e9},
		{"9223372036854775807", 1<<63 - 1},
		{"9223372036854775808", 0},
		{"9007199254740992Ki", 0}, // 2^63
		{"", 0},
		{"0", 0},
		{"0Mi", 0},
		{"Mi", 0},
		{"-1", 0},
		{"+1", 0},
		{"1.5Gi", 0},
		{"1 Gi", 0},
		{"1GB", 0},
		{"1mi", 0},
		{"0x10", 0},
		{"1_000", 0},
		{"١", 0}, // a digit, but not of ours
	} {
		got, err := parseSize(tt.in)
		if got != tt.want || (err != nil) != (tt.want == 0) {
			t.Errorf("parseSize(%q) = %d, %v, want %d", tt.in, got, err, tt.want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want time.Duration // 0: an error
	}{
		{"5", 5 * time.Second},
		{"0.25", 250 * time.Millisecond},
		{"2.5", 2500 * time.Millisecond},
		{".5", 500 * time.Millisecond},
		{"500ms", 500 * time.Millisecond},
		{"1m30s", 90 * time.Second},
		{"24h", 24 * time.Hour},
		{"", 0},
		{"0", 0},
		{"0s", 0},
		{"0.0000000001", 0},
		{"-1", 0},
		{"-1s", 0},
		{"1e3", 0},
		{"inf", 0},
		{"NaN", 0},
		{"0x10", 0},
		{"1.2.3", 0},
		{"5 s", 0},
		{"99999999999", 0},
		{"9999999999h", 0},
		{"none", 0},
	} {
		got, err := parseDuration(tt.in)
		if got != tt.want || (err != nil) != (tt.want == 0) {
			t.Errorf("parseDuration(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
		}
	}
}

func TestDurationValue_None(t *testing.T) {
	var d time.Duration
	if err := (durationValue{&d, true}).Set("none"); err != nil || d != engine.NoTimeout {
		t.Errorf(`Set("none") = %v, and %v; want NoTimeout`, err, d)
	}
	if err := (durationValue{&d, false}).Set("none"); err == nil {
		t.Error(`Set("none") of a flag without it = nil, want an error`)
	}
}

func TestEnvValue(t *testing.T) {
	env := map[string]string{}
	v := envValue{env}
	for _, s := range []string{"A=1", "B=x=y", "C=", "A=2"} {
		if err := v.Set(s); err != nil {
			t.Errorf("Set(%q) = %v", s, err)
		}
	}
	for _, s := range []string{"", "A", "=x", "="} {
		if err := v.Set(s); err == nil {
			t.Errorf("Set(%q) = nil, want an error", s)
		}
	}
	if env["A"] != "2" || env["B"] != "x=y" || env["C"] != "" || len(env) != 3 {
		t.Errorf("env = %v", env)
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain ü":        "plain ü",
		"two\nlines":     "two lines",
		"\x1b]0;title\a": "?]0;title?",
		"c1 \u009b2J":    "c1 ?2J",
		"bad \xff byte":  "bad \uFFFD byte",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", in, got, want)
		}
	}
}
