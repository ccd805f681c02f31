package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
	"github.com/sandbar-dev/sandbar/netpolicy"
)

// placeFlags say where a script runs, and what it reaches.
type placeFlags struct {
	backend string
	network string
	gpu     bool
	venv    bool
}

func (f *placeFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.backend, "backend", "", fmt.Sprintf("how the native tier isolates: %s (default %s)", joined(native.Backends()), native.Bubblewrap))
	fs.StringVar(&f.network, "network", "", fmt.Sprintf("what of the network the script has: %s or %s (default %s)", netpolicy.Blocked, netpolicy.Open, netpolicy.Blocked))
	fs.BoolVar(&f.venv, "venv", false, "give the script a Python virtual environment in the work directory")
	fs.BoolVar(&f.gpu, "gpu", false, "give the script the host's NVIDIA devices")
}

func joined[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = string(v)
	}
	return strings.Join(words, ", ")
}

// fill checks the flags and puts them into the options.
func (f *placeFlags) fill(given func(flag string) bool, opts *engine.Options) (native.Backend, error) {
	if given("backend") && !slices.Contains(native.Backends(), native.Backend(f.backend)) {
		return "", usageErrorf("--backend: %q is not a backend; there are %s", f.backend, joined(native.Backends()))
	}
	if given("network") && !slices.Contains(netpolicy.Modes(), netpolicy.Mode(f.network)) {
		return "", usageErrorf("--network: %q is not a mode; there are %s", f.network, joined(netpolicy.Modes()))
	}
	opts.Network = netpolicy.Mode(f.network)
	opts.GPU = f.gpu
	opts.Venv = f.venv
	backend := native.Backend(f.backend)
	if backend == "" {
		backend = native.Bubblewrap
	}
	return backend, nil
}

// The values of --type.
const (
	typePython = string(engine.Python)
	typeShell  = string(engine.Shell)
)

// scriptType finds the type of a script: what --type says, or else what its file's name ends in.
func scriptType(given bool, flag, name string) (engine.ScriptType, error) {
	if given {
		switch flag {
		case typePython, typeShell:
			return engine.ScriptType(flag), nil
		}
		return "", usageErrorf("--type: %q is not a script type; there are %s and %s", flag, typePython, typeShell)
	}
	switch filepath.Ext(name) {
	case ".sh", ".bash":
		return engine.Shell, nil
	}
	return engine.Python, nil
}

// scriptTier finds the tier of a script. What only the native tier has is refused in the other one: it would
// have no effect.
func scriptTier(t engine.ScriptType, given func(flag string) bool, tier string) (engine.Tier, error) {
	tiers := []engine.Tier{engine.TierAuto, engine.TierWasm, engine.TierNative}
	switch {
	case given("tier") && !slices.Contains(tiers, engine.Tier(tier)):
		return "", usageErrorf("--tier: %q is not a tier; there are %s", tier, joined(tiers))
	case t == engine.Shell && tier == string(engine.TierWasm):
		return "", usageErrorf("--tier: a shell script needs the native tier")
	case t == engine.Shell || tier == string(engine.TierNative):
		return engine.TierNative, nil
	case tier != string(engine.TierWasm):
		return engine.TierAuto, nil
	}
	for _, flag := range []string{"backend", "network", "gpu", "venv", "processes"} {
		if given(flag) {
			return "", usageErrorf("--%s is for the native tier, and with --tier wasm nothing runs there", flag)
		}
	}
	return engine.TierWasm, nil
}
