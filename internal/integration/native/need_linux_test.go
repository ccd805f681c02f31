package nativetests

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandbar-dev/sandbar/internal/testneed"
	"github.com/sandbar-dev/sandbar/native"
)

// cellPath is the PATH of scripts.
const cellPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

var errNotInstalled = errors.New("not installed where a script finds it")

// need skips a test for want of programs that scripts find.
func need(tb testing.TB, programs ...string) {
	tb.Helper()
	for _, name := range programs {
		if !installed(name) {
			testneed.Feature(tb, name, errNotInstalled)
		}
	}
}

func installed(name string) bool {
	for _, dir := range filepath.SplitList(cellPath) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// needCgroup skips a test where the driver cannot make control groups.
func needCgroup(tb testing.TB, d *native.Driver) {
	tb.Helper()
	if !hasCgroup(d) {
		testneed.Feature(tb, "cgroup", errors.New(d.Info().Enforced["cgroup"]))
	}
}

func hasCgroup(d *native.Driver) bool { return strings.HasPrefix(d.Info().Enforced["cgroup"], "v") }

// needLandlock skips a test where the kernel's Landlock is older than an ABI version.
func needLandlock(tb testing.TB, d *native.Driver, least int) {
	tb.Helper()
	var abi int
	_, err := fmt.Sscanf(d.Info().Enforced["landlock"], "ABI %d", &abi)
	if err == nil && abi < least {
		err = fmt.Errorf("ABI %d, less than %d", abi, least)
	}
	testneed.Feature(tb, "landlock", err)
}

// needRoot skips a test that only root can do.
func needRoot(tb testing.TB) {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("needs root")
	}
}
