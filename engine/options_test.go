package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestOpen_PythonTier(t *testing.T) {
	for _, tier := range []Tier{"Auto", "Wasm", "docker", Tier(strings.Repeat("x", 1<<20))} {
		_, err := Open(t.Context(), []Driver{newFake(basics), newNative()}, &Options{PythonTier: tier})
		wantField(t, fmt.Sprintf("Open with %.10q", tier), err, "PythonTier")
		if err != nil && len(err.Error()) > 500 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}

func TestOpen_FileSize(t *testing.T) {
	_, err := Open(t.Context(), []Driver{newNative()}, &Options{Limits: Limits{FileSize: -1}})
	wantField(t, "Open", err, "Limits.FileSize")

	d := newNative()
	s := openTiers(t, &Options{Limits: Limits{FileSize: 1 << 20}}, d)
	if d.spec.Limits.FileSize != 1<<20 || s.Info().Limits.FileSize != 1<<20 {
		t.Errorf("the driver gets %d, Info has %d", d.spec.Limits.FileSize, s.Info().Limits.FileSize)
	}
	// It has no default.
	d = newNative()
	if s := openTiers(t, nil, d); d.spec.Limits.FileSize != 0 || s.Info().Limits.FileSize != 0 {
		t.Errorf("without the option: the driver gets %d, Info has %d", d.spec.Limits.FileSize, s.Info().Limits.FileSize)
	}
	// A tier that cannot hold it.
	wasm := newFake(basics)
	wasm.info.Unenforced = []string{"FileSize"}
	_, err = Open(t.Context(), []Driver{wasm, newNative()}, &Options{Limits: Limits{FileSize: 1}})
	wantErr(t, "Open", err, ErrNotEnforceable)
	s = openTiers(t, &Options{Limits: Limits{FileSize: 1}, BestEffort: true}, wasm, newNative())
	if got := s.Info().Unenforced; len(got) != 1 || !slices.Equal(got[TierWasm], []string{"FileSize"}) {
		t.Errorf("Unenforced %v", got)
	}
}

func TestOpen_GPU(t *testing.T) {
	for _, gpu := range []bool{false, true} {
		d := newNative()
		openTiers(t, &Options{GPU: gpu}, d)
		if d.spec.GPU != gpu {
			t.Errorf("GPU %v: the driver is told %v", gpu, d.spec.GPU)
		}
	}
}

// The kernel counts a pointer for each argument: very many short ones are too much although their bytes are few.
func TestRun_ManyArguments(t *testing.T) {
	for n, ok := range map[int]bool{1000: true, 150_000: true, 250_000: false} {
		args := make([]string, n)
		err := checkStrings("Args", args)
		var invalid *InvalidError
		if got := err == nil; got != ok || (!ok && !errors.As(err, &invalid)) {
			t.Errorf("%d arguments: %v", n, err)
		}
	}
}

func TestOpen_Warm(t *testing.T) {
	for _, tt := range []struct {
		drivers []Driver
		opts    *Options
	}{
		{[]Driver{newNative()}, &Options{Warm: "import x"}},
		{[]Driver{newFake(basics), newNative()}, &Options{Warm: "import x", PythonTier: TierNative}},
		{[]Driver{newFake(basics)}, &Options{Warm: "a\x00b"}},
		{[]Driver{newFake(basics)}, &Options{Warm: strings.Repeat("x", MaxScript+1)}},
	} {
		_, err := Open(t.Context(), tt.drivers, tt.opts)
		wantField(t, fmt.Sprintf("Open with %.20q", tt.opts.Warm), err, "Warm")
	}
	d := newFake(basics)
	openTiers(t, &Options{Warm: "import x"}, d)
	if d.spec.Warm != "import x" {
		t.Errorf("the driver gets %q", d.spec.Warm)
	}
}
